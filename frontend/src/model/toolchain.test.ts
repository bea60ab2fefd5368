import { describe, expect, it } from "vitest";
import type { ProjectToolchain, SettingsView } from "../api/types";
import { hasChange, isToolchain, settled, toDecide, toolchainWord } from "./toolchain";

const one = (more: Partial<ProjectToolchain>): ProjectToolchain => ({ path: "/p", sha256: "a", diff: "", fields: ["setup"], kind: "setup", state: "undecided", text: "", notes: null, ...more });
const view = (...toolchains: ProjectToolchain[]) => ({ toolchains }) as SettingsView;

describe("toolchain", () => {
  it("is asked about where it waits, else the worktree's own", () => {
    expect(toDecide(view())).toBeUndefined();
    expect(toDecide({ toolchains: null } as SettingsView)).toBeUndefined();
    expect(toDecide(view(one({ state: "undecided" }), one({ state: "approved", path: "/q" })))?.path).toBe("/p");
    expect(toDecide(view(one({ state: "approved" }), one({ state: "declined", path: "/q" })))?.path).toBe("/q");
  });

  it("shows a change only where there was a text before", () => {
    expect(hasChange(one({ diff: "@@ -0,0 +1,2 @@\n+a\n+b\n" }))).toBe(false);
    expect(hasChange(one({ diff: "--- a\n+++ b\n@@ -0,0 +1 @@\n+a\n" }))).toBe(false);
    expect(hasChange(one({ diff: "@@ -1,2 +1,2 @@\n a\n-b\n+c\n" }))).toBe(true);
    expect(hasChange(one({ state: "approved", diff: "@@ -1 +1 @@\n-b\n+c\n" }))).toBe(false);
  });

  it("knows its kinds, and settings from them", () => {
    expect([["image"], ["setup"], ["devcontainer"], ["mounts"], ["image", "mounts"], null].map(isToolchain)).toEqual([true, true, true, false, false, false]);
    expect([toolchainWord("setup"), toolchainWord("x")]).toEqual(["a set-up script", "a file"]);
  });

  it("is settled once a run goes on", () => {
    const asked = { channel_id: "c", path: "/p", sha256: "a", fields: ["setup"] };
    expect([settled(asked, "toolchain"), settled(asked, "image"), settled(asked, undefined), settled(undefined, "image"), settled({ ...asked, fields: ["mounts"] }, "image")])
      .toEqual([false, true, false, false, false]);
  });
});
