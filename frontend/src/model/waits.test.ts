import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ChannelState, ChannelView, Question, QuestionKind, Run, Wait } from "../api/types";
import { allBusy, waits, waitWords } from "./waits";

type Case = {
  name: string;
  question?: QuestionKind;
  running?: boolean;
  full?: boolean;
  queue: { not_before?: number; hold_until?: number }[];
  want: { reason?: Wait["reason"]; question_id?: string; until?: number; ahead?: number }[];
};

const now = Date.parse("2026-03-01T12:00:00Z");
const at = (seconds: number | undefined) => (seconds === undefined ? undefined : new Date(now + seconds * 1000).toISOString());

describe("why a prompt waits", () => {
  const cases = JSON.parse(readFileSync(new URL("../../../backend/core/testdata/waits.json", import.meta.url), "utf8")) as Case[];
  it.each(cases)("$name", (c) => {
    const queue = c.queue.map((r) => ({ not_before: at(r.not_before), hold_until: at(r.hold_until) }) as Run);
    const question = c.question && ({ question_id: "q", kind: c.question } as Question);
    const got = waits(queue, { question, running: c.running ?? false, full: c.full ?? false, now });
    expect(got).toEqual(c.want.map((w) => ({ ...w, reason: w.reason ?? "", until: at(w.until) })));
  });
  it("may be that runs elsewhere are as many as there may be", () => {
    const channels = (states: ChannelState[]) => states.map((state) => ({ state }) as ChannelView);
    const busy = (maxRuns: number, ...states: ChannelState[]) => allBusy({ maxRuns, channels: channels(states) });
    expect(busy(2, "working", "queued", "needs_you", "working")).toBe(true);
    expect(busy(2, "working", "queued", "needs_you", "done")).toBe(false);
    expect(busy(0, "working")).toBe(false); // Loop has not said how many
  });
  it("is said in words", () => {
    const words = (w: Wait) => waitWords(w, now);
    expect([
      words({ reason: "question" }), words({ reason: "plan" }), words({ reason: "question", until: at(90) }),
      words({ reason: "plan", until: at(3600) }), words({ reason: "held", until: at(9) }), words({ reason: "delayed", until: at(60) }),
      words({ reason: "behind", ahead: 1 }), words({ reason: "behind", ahead: 3 }),
      words({ reason: "run" }), words({ reason: "limit" }), words({ reason: "" }),
    ]).toEqual([
      "waits for your answer", "waits for your word on the plan", "in 1 m, after your answer", "in 1 h 0 m, after your word on the plan",
      "held for 9 s", "in 1 m",
      "after 1 other", "after 3 others", "next", "next, when a run elsewhere ends", "next",
    ]);
  });
});
