import { describe, expect, it } from "vitest";
import type { ChannelView } from "../api/types";
import { ringsOf, ringWords } from "./rings";

const channel = (id: string, parent = "", notify = "") => ({ channel_id: id, parent_id: parent, choices: notify ? { notify } : undefined }) as unknown as ChannelView;

describe("what rings", () => {
  const all = [channel("a", "", "problems"), channel("b", "a"), channel("c", "b", "never"), channel("d"), channel("x", "y"), channel("y", "x")];
  it("is a channel's own choice, else that above, else the settings'", () => {
    expect(["a", "b", "c", "d", "x", "gone"].map((id) => ringsOf(all, id, "needs_you"))).toEqual(["problems", "problems", "never", "needs_you", "needs_you", "needs_you"]);
    expect(ringsOf(all, "d", "")).toBe("all");
  });
  it("has words", () => {
    expect(["all", "problems", "needs_you", "never", "odd"].map(ringWords)).toEqual(["needs you, failed, done", "needs you, failed", "needs you", "nothing", "needs you, failed, done"]);
  });
});
