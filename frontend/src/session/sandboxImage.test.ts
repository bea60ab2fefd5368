import "../test/browser";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { viewStore } from "../model/stores";
import { buildable, sandboxStore } from "../model/sandboxImage";
import { failure, pretendLoop } from "../test/loop";
import type { Answer } from "../test/loop";
import { buildSandboxImage } from "./sandboxImage";
import { startSession } from "./session";

function start(answers: Record<string, Answer>) {
  const loop = pretendLoop(answers, "headless");
  startSession(loop.bridge);
  return loop;
}

beforeEach(() => {
  vi.useRealTimers();
  sandboxStore.setState({ kind: "", state: "", step: "", progress: 0 });
  viewStore.setState({ toast: null });
});

describe("a missing image", () => {
  it("can be built where it is one of Loop's", () => {
    expect(["image_missing:sandbox", "image_missing:sandbox-common", "image_missing", "image_missing:x", "image_build"].map(buildable))
      .toEqual(["sandbox", "sandbox-common", "", "", ""]);
  });

  it("is built once, and its progress is shown", async () => {
    vi.useFakeTimers();
    let built: (v: null) => void = () => undefined;
    const loop = start({
      "System.BuildSandboxImage": () => new Promise((done) => { built = done; }),
      "System.SandboxImageStatus": () => ({ state: "building", ref: "x", step: "Building", progress: 0.4 }),
    });
    const over = buildSandboxImage("sandbox");
    await buildSandboxImage("sandbox");
    await vi.advanceTimersByTimeAsync(1500);
    expect(sandboxStore.getState()).toEqual({ kind: "sandbox", state: "building", step: "Building", progress: 0.4 });
    built(null);
    await over;
    expect(sandboxStore.getState().state).toBe("ready");
    expect(loop.called("System.BuildSandboxImage")).toEqual([[{ kind: "sandbox" }]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("stays missing when its build fails, and the reason is shown", async () => {
    start({ "System.BuildSandboxImage": () => Promise.reject(failure("image_build")) });
    await buildSandboxImage("sandbox-common");
    expect([sandboxStore.getState().state, viewStore.getState().toast?.failure?.code]).toEqual(["", "image_build"]);
  });
});
