import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../api/types";
import { passes, tellsStart } from "./filter";
import type { RetryItem } from "./items";
import { retrySaid, retryWords, secondsLeft } from "./retries";
import { emptyTimeline, loaded, receive, startLoading } from "./state";
import type { TimelineState } from "./state";

let id = 0;
let at = 0;
const ev = (type: string, data: unknown, after = 1000): LoopEvent => ({ seq: 0, id: ++id, type, channel_id: "c", run_id: "r", timestamp: (at += after), data }) as LoopEvent;
const ready = (...events: LoopEvent[]): TimelineState => loaded(startLoading(emptyTimeline), { events, has_more: false, live: null, queue: null }, at);
const refused = (attempt: number, delay = 12_000, after = 1000) =>
  ev("agent.activity", { activity: "api_retry", description: "words", retry: { attempt, of: 10, delay_ms: delay, why: "The model is overloaded (529)." } }, after);
const again = (transient: number, kind = "transient", after = 1000) => ev("run.attempt", { number: transient + 1, transient, of: 5, kind, delay_ms: 5000, reason: "The model is overloaded (529)." }, after);
const bot = () => ev("message.created", { msg_id: "m", content: "hello", is_bot: true });
const rows = (t: TimelineState) => t.built.items.filter((x): it is RetryItem => x.kind === "retry");
const kinds = (t: TimelineState) => t.built.items.map((x) => x.kind).join(" ");

describe("waiting for the model", () => {
  it("is one row, however often it is asked again, and the row keeps its key", () => {
    let t = ready(refused(1));
    const key = rows(t)[0]?.key;
    t = receive(t, [refused(2, 20_000, 12_000), refused(3, 12_000, 20_000)]);
    expect(rows(t)).toHaveLength(1);
    expect(rows(t)[0]).toMatchObject({ key, attempt: 3, of: 10, tries: 3, until: 0, own: false });
    expect(retryWords(rows(t)[0]!, at)).toEqual({ head: "Trying again in 12 s", why: "The model is overloaded (529). Try 3 of 10." });
    expect(retryWords(rows(t)[0]!, at + 4100).head).toBe("Trying again in 8 s");
    expect(retryWords(rows(t)[0]!, at + 30_000).head).toBe("Trying again");
  });

  it("shows no more seconds than were meant, whatever the clock says", () => {
    const it0 = rows(ready(refused(1)))[0]!;
    expect([secondsLeft(it0, 0), secondsLeft(it0, it0.due + 1), secondsLeft(it0, it0.due - 1)]).toEqual([12, 0, 1]);
  });

  it("ends with the agent's next word, also one that streams in", () => {
    expect(rows(receive(ready(refused(1)), [bot()]))[0]).toMatchObject({ end: "answered", until: at });
    const waits = ready(refused(1), refused(2));
    const piece = { seq: 0, type: "message.streaming", channel_id: "c", run_id: "r", timestamp: (at += 500), data: { msg_id: "m", block: 0, kind: "text", offset: 0, delta: "he" } } as LoopEvent;
    const t = receive(waits, [piece]);
    expect(rows(t)[0]).toMatchObject({ end: "answered", until: at });
    expect(retryWords(rows(t)[0]!, at)).toEqual({ head: "Tried again 2 times", why: "The model is overloaded (529)." });
  });

  it("goes on in the same row when Loop itself tries again, and can then begin at once", () => {
    const notice = ev("run.notice", { level: "warning", text: "API Error: 529 Overloaded" });
    let t = receive(ready(refused(9), refused(10)), [notice, again(1)]);
    expect(kinds(t)).toBe("retry");
    expect(rows(t)[0]).toMatchObject({ own: true, attempt: 1, of: 4, tries: 3, due: at + 5000 });
    t = receive(t, [ev("agent.status", { status: "running", state: "starting", step: "link" })]);
    expect(rows(t)[0]).toMatchObject({ own: false, due: at, until: 0 });
    t = receive(t, [refused(1)]);
    expect(kinds(t)).toMatch(/^retry( start)?$/);
  });

  it("keeps other notices, and other ways to go on are rows of their own", () => {
    const t = ready(bot(), ev("run.notice", { level: "info", text: "Mount skipped." }), again(1), again(2, "compact"));
    expect(kinds(t)).toBe("text notice retry attempt");
    expect(rows(t)[0]).toMatchObject({ end: "failed" });
  });

  it("says how the run ended meanwhile", () => {
    for (const [state, end, head] of [["failed", "failed", "Tried again once, in vain"], ["cancelled", "stopped", "Stopped while waiting"], ["done", "answered", "Tried again once"]] as const) {
      const t = receive(ready(refused(1)), [ev("agent.status", { status: "error", state })]);
      expect(rows(t)[0]).toMatchObject({ end, until: at });
      expect(retryWords(rows(t)[0]!, at).head).toBe(head);
    }
  });

  it("begins a new row after an answer, and is a problem", () => {
    const t = ready(refused(1), bot(), refused(1));
    expect(kinds(t)).toBe("retry text retry");
    expect(rows(t).every((x) => passes(x, "problems"))).toBe(true);
    expect(retrySaid(rows(t)[0]!)).not.toMatch(/\d s/);
  });

  it("shows what earlier versions of Loop stored, and data of the wrong shape", () => {
    expect(kinds(ready(ev("agent.activity", { activity: "api_retry", description: "Trying again." })))).toBe("activity");
    const t = ready(ev("agent.activity", { activity: "api_retry", retry: { attempt: "x", delay_ms: -1, why: 7 } }));
    expect(retryWords(rows(t)[0]!, at)).toEqual({ head: "Trying again", why: "7" });
  });
});

describe("what is shown of a run", () => {
  it("leaves out what Loop has no words for, which the filter shows", () => {
    const raw = ready(ev("agent.raw", { type: "telemetry" })).built.items[0]!;
    expect([passes(raw, "all"), passes(raw, "unknown"), passes(raw, "problems")]).toEqual([false, true, false]);
  });

  it("says of the start only that it is under way, was slow or failed", () => {
    const start = (readyAt: number, failed = false) => tellsStart({ kind: "start", key: "s", at: 1000, runId: "r", steps: [], readyAt, failed });
    expect([start(0), start(3000), start(6000), start(1500, true)]).toEqual([true, false, true, true]);
  });
});
