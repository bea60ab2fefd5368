import "../test/browser";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Approval, LoopEvent } from "../api/types";
import { rememberedBy } from "../model/gate-remembered";
import { batchListeners, viewStore } from "../model/stores";
import type { Answer } from "../test/loop";
import { failure, pretendLoop } from "../test/loop";
import { tellRemembered } from "./remembered";
import { startSession } from "./session";

const AT = "2026-11-22T14:00:00Z";
const resolved = (more: Partial<Approval> = {}): LoopEvent => ({
  seq: 1, type: "gate.resolved", channel_id: "a", timestamp: 0, data: { approval_id: "x", channel_id: "a", state: "allowed", scope: "always", by: "dialog", resolved_at: AT, ...more },
}) as unknown as LoopEvent;
const list = (more: object = {}) => ({
  channel_id: "a", files: [{ origin: "remembered", path: "/loop/gate/projects/a.json" }, { origin: "yours", path: "/loop/config.json" }],
  undo: { id: "u", at: AT, text: "Remembered: allow write of ~/x\u202e", scope: "always", ...more },
});
let stop = () => undefined as void;

function start(answers: Record<string, Answer>) {
  const loop = pretendLoop(answers);
  startSession(loop.bridge);
  stop = tellRemembered();
  return loop;
}
const tell = async (ev: LoopEvent) => {
  for (const f of batchListeners) f([ev]);
  await new Promise((r) => setTimeout(r));
};
const toastNow = () => viewStore.getState().toast;

beforeEach(() => viewStore.setState({ toast: null }));
afterEach(() => stop());

describe("a remembered answer", () => {
  it("from anywhere is told with its rule and its file, and can be undone", async () => {
    const loop = start({ "GateRules.List": () => list(), "GateRules.Undo": () => list() });
    await tell(resolved());
    expect(toastNow()?.text).toBe("Remembered: allow write of ~/x⟨RLO⟩. It is in /loop/config.json.");
    toastNow()?.action?.run();
    await new Promise((r) => setTimeout(r));
    expect(loop.called("GateRules.Undo")).toEqual([["a", "u"]]);
    expect(toastNow()?.text).toContain("Undone.");
  });
  it("of one project names that project's file", async () => {
    start({ "GateRules.List": () => list({ scope: "project" }) });
    await tell(resolved({ scope: "project", state: "denied" }));
    expect(toastNow()?.text).toContain("It is in /loop/gate/projects/a.json.");
  });
  it("offers no undo of another change, and nothing where the rules cannot be read", async () => {
    start({ "GateRules.List": () => list({ at: "2026-11-22T13:00:00Z" }) });
    await tell(resolved());
    expect(toastNow()).toBeNull();
    stop();
    start({ "GateRules.List": () => Promise.reject(failure("internal")) });
    await tell(resolved());
    expect(toastNow()).toBeNull();
  });
  it("says nothing while the page is out of sight", async () => {
    const loop = start({ "GateRules.List": () => list() });
    Object.assign(document, { visibilityState: "hidden" });
    await tell(resolved());
    Object.assign(document, { visibilityState: "visible" });
    expect([toastNow(), loop.called("GateRules.List")]).toEqual([null, []]);
  });
  it("is none where it counts once, for a run, or was not taken", () => {
    expect(["once", "run"].map((scope) => rememberedBy(resolved({ scope: scope as "once" })))).toEqual([null, null]);
    expect([rememberedBy(resolved({ state: "expired" })), rememberedBy({ ...resolved(), type: "gate.asked" } as LoopEvent)]).toEqual([null, null]);
  });
});
