import { beforeEach, describe, expect, it } from "vitest";
import type { ServerMessage } from "../../api/terminal-messages";
import type { Options, WireEvents } from "./client";
import { ACK_EVERY, TerminalClient } from "./protocol";

type Sent = string | Uint8Array;

function world(want: Options["want"] = { sessionId: "s1" }, visible = true, colors?: Options["colors"]) {
  const wires: { events: WireEvents; sent: Sent[]; closed: boolean }[] = [];
  const timers: { ms: number; f: () => void; live: boolean }[] = [];
  const calls: string[] = [];
  const pending: (() => void)[] = [];
  const notices: string[] = [];
  const client = new TerminalClient({
    want, visible, colors, size: { cols: 80, rows: 24 }, random: () => 0.5,
    dial(events) {
      const w = { events, sent: [] as Sent[], closed: false };
      wires.push(w);
      return { send: (d) => w.sent.push(d), close: () => (w.closed = true) };
    },
    later(ms, f) {
      const t = { ms, f, live: true };
      timers.push(t);
      return () => (t.live = false);
    },
    screen: {
      fresh: (c, r) => calls.push(`fresh ${c}x${r}`),
      write: (d, parsed) => {
        calls.push(`write ${d.length}`);
        pending.push(parsed);
      },
      resize: (c, r) => calls.push(`resize ${c}x${r}`),
      drawn: () => calls.push("drawn"),
    },
    onChange: () => {},
    onNotice: (t, typed) => notices.push(typed ? `${t} (typed)` : t),
  });
  client.start();
  const at = () => wires.at(-1) as (typeof wires)[number];
  return {
    client, wires, timers, calls, pending, notices, at,
    open: () => at().events.open(),
    say: (m: ServerMessage) => at().events.text(JSON.stringify(m)),
    bytes: (n: number) => at().events.bytes(new Uint8Array(n)),
    parse: () => pending.splice(0).forEach((f) => f()),
    json: () => at().sent.filter((s): s is string => typeof s === "string").map((s) => JSON.parse(s) as Record<string, unknown>),
    fire: () => timers.filter((t) => t.live).forEach((t) => { t.live = false; t.f(); }),
  };
}
const attached = (more = {}): ServerMessage => ({ type: "attached", session_id: "s1", cols: 80, rows: 24, offset: 0, snapshot: 0, state: "running", ...more });

describe("colors", () => {
  const dark = { foreground: "#ffffff", background: "#000000", cursor: "#ff0000" };
  it("are told with what opens a session, and when they change", () => {
    let now: typeof dark | null = dark;
    const w = world(undefined, true, () => now);
    w.client.recolor(); // no session is attached yet
    w.open();
    w.say(attached());
    now = { ...dark, background: "#222222" };
    w.client.recolor();
    now = null;
    w.client.recolor();
    expect(w.json()).toEqual([
      { type: "attach", session_id: "s1", acks: true, colors: dark },
      { type: "colors", colors: { ...dark, background: "#222222" } },
    ]);
    const c = world({ create: {} }, true, () => dark);
    c.open();
    expect(c.json()[0]).toMatchObject({ type: "create", colors: dark });
  });
});

describe("opening", () => {
  it("attaches with acknowledgements, then is live", () => {
    const w = world();
    expect(w.client.state.state).toBe("connecting");
    w.open();
    expect(w.json()).toEqual([{ type: "attach", session_id: "s1", acks: true }]);
    w.say(attached({ snapshot: 10, title: "bash" }));
    expect(w.client.state).toMatchObject({ state: "live", sessionId: "s1", title: "bash" });
    w.bytes(6);
    w.bytes(4);
    w.bytes(3);
    w.parse();
    expect(w.calls).toEqual(["fresh 80x24", "write 6", "write 4", "write 3", "drawn"]);
  });

  it("draws an empty snapshot at once, and takes the size of the server", () => {
    const w = world();
    w.open();
    w.say(attached({ cols: 132, rows: 50 }));
    expect(w.calls).toEqual(["fresh 132x50", "drawn"]);
    expect(w.json().at(-1)).toEqual({ type: "resize", rows: 24, cols: 80 });
  });

  it("creates with its size, and says what went wrong", () => {
    const w = world({ create: { channel_id: "c", target: "host" } });
    w.open();
    expect(w.json()).toEqual([{ type: "create", channel_id: "c", target: "host", cols: 80, rows: 24, acks: true }]);
    w.say({ type: "error", error_code: "session_failed", message: "No such shell.", remedy: "Set another one." });
    expect(w.client.state).toMatchObject({ state: "failed", failure: { cause: "No such shell.", remedy: "Set another one." } });
    expect(w.at().closed).toBe(true);
    w.client.retry();
    w.open();
    expect(w.json()).toHaveLength(1);
    w.say({ type: "created", session_id: "s9", cols: 80, rows: 24, offset: 0, snapshot: 0 });
    expect(w.client.state).toMatchObject({ state: "live", sessionId: "s9", failure: null });
  });

  it("does not make a second session when it cannot know", () => {
    const w = world({ create: {} });
    w.open();
    w.at().events.close();
    expect(w.client.state.state).toBe("failed");
    expect(w.timers.filter((t) => t.live)).toHaveLength(0);
  });

  it("tries on where nothing was asked yet", () => {
    const w = world({ create: {} });
    w.at().events.close();
    expect(w.client.state).toMatchObject({ state: "connecting", retries: 1 });
    w.fire();
    expect(w.wires).toHaveLength(2);
  });
});

describe("bytes", () => {
  let w: ReturnType<typeof world>;
  beforeEach(() => {
    w = world();
    w.open();
    w.say(attached());
    w.at().sent.length = 0;
  });
  const acks = () => w.json().filter((m) => m.type === "ack").map((m) => m.offset);

  it("acknowledges what was parsed, cumulatively, every 64 KiB", () => {
    for (let i = 0; i < 5; i++) w.bytes(40_000);
    expect(acks()).toEqual([]);
    w.parse();
    expect(acks()).toEqual([80_000, 160_000, 200_000]);
    expect(ACK_EVERY).toBe(65_536);
  });

  it("acknowledges a rest that counts once nothing is left, and no echo of a key", () => {
    w.bytes(1);
    w.parse();
    expect(acks()).toEqual([]);
    w.bytes(20_000);
    w.parse();
    expect(acks()).toEqual([20_001]);
  });

  it("counts a snapshot in the middle like everything else", () => {
    w.bytes(70_000);
    w.parse();
    w.say({ type: "resync", cols: 90, rows: 30, offset: 9e6, snapshot: 50_000 });
    w.bytes(50_000);
    w.parse();
    expect(acks()).toEqual([70_000, 120_000]);
    expect(w.calls.slice(-3)).toEqual(["fresh 90x30", "write 50000", "drawn"]);
  });

  it("starts to count anew after a break, whatever comes late", () => {
    w.bytes(70_000); // not parsed when the socket breaks
    w.at().events.close();
    w.fire();
    w.open();
    w.say(attached({ snapshot: 70_000 }));
    w.bytes(70_000);
    w.parse();
    expect(acks()).toEqual([70_000]);
  });

  it("passes size changes on in their place", () => {
    w.bytes(5);
    w.say({ type: "resized", cols: 100, rows: 40, offset: 5 });
    w.bytes(6);
    expect(w.calls.slice(-3)).toEqual(["write 5", "resize 100x40", "write 6"]);
    expect(w.client.state).toMatchObject({ cols: 100, rows: 40 });
  });

  it("sends typed bytes as they are, large ones in parts, none where nobody is", () => {
    expect(w.client.input(new Uint8Array([3]))).toBe(true);
    expect(w.client.input(new Uint8Array(70_000))).toBe(true);
    expect(w.at().sent.map((s) => s.length)).toEqual([1, 32_768, 32_768, 4464]);
    w.at().events.close();
    expect(w.client.input(new Uint8Array([3]))).toBe(false);
  });

  it("sends nothing later that could not be sent at once: another program may be there by then", () => {
    w.at().events.close();
    expect(w.client.input(new Uint8Array([4]))).toBe(false);
    w.fire();
    w.open();
    expect(w.client.input(new Uint8Array([5]))).toBe(false);
    w.say(attached({ state: "away" })); // after a restart of Loop
    w.client.told({ state: "running" });
    expect(w.client.input(new Uint8Array([6]))).toBe(true);
    expect(w.at().sent.filter((s) => typeof s !== "string")).toEqual([new Uint8Array([6])]);
  });

  it("says whether a refusal is of what was typed", () => {
    w.say({ type: "error", error_code: "conflict", message: "Not sent.", remedy: "Type it again.", request: "input" });
    w.say({ type: "error", error_code: "conflict", message: "Not recorded.", request: "record" });
    expect(w.notices).toEqual(["Not sent. Type it again. (typed)", "Not recorded."]);
  });
});

describe("sizes and sight", () => {
  it("asks once for a size, never for none, and not while hidden", () => {
    const w = world();
    w.open();
    w.say(attached());
    w.at().sent.length = 0;
    w.client.resize(0, 0);
    w.client.resize(0, 20);
    w.client.resize(80, 24);
    expect(w.json()).toEqual([]);
    w.client.resize(100, 30);
    w.client.resize(100, 30);
    expect(w.json()).toEqual([{ type: "resize", rows: 30, cols: 100 }]);
    w.say({ type: "resized", cols: 100, rows: 30, offset: 0 });
    w.client.show(false);
    w.client.show(false);
    w.client.resize(120, 40);
    expect(w.json().slice(1)).toEqual([{ type: "show", visible: false }]);
    w.client.show(true);
    w.say({ type: "resync", cols: 100, rows: 30, offset: 0, snapshot: 0 });
    expect(w.json().slice(2)).toEqual([{ type: "show", visible: true }, { type: "resize", rows: 40, cols: 120 }]);
  });

  it("can go back to an earlier size, and takes its own again from another window", () => {
    const w = world();
    w.open();
    w.say(attached());
    w.client.resize(100, 30);
    w.say({ type: "resized", cols: 100, rows: 30, offset: 0 });
    w.client.resize(80, 24);
    w.say({ type: "resized", cols: 80, rows: 24, offset: 0 });
    w.say({ type: "resized", cols: 60, rows: 20, offset: 0 });
    w.client.claimSize();
    expect(w.json().filter((m) => m.type === "resize").map((m) => m.cols)).toEqual([100, 80, 80]);
  });

  it("tells the server that it is hidden before anything is drawn", () => {
    const w = world({ sessionId: "s1" }, false);
    w.open();
    w.say(attached({ cols: 10, rows: 5 }));
    expect(w.json().slice(1)).toEqual([{ type: "show", visible: false }]);
  });
});

describe("breaks and ends", () => {
  it("backs off, attaches again and goes on", () => {
    const w = world();
    w.open();
    w.say(attached());
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      w.at().events.close();
      waits.push(w.timers.at(-1)?.ms ?? 0);
      expect(w.client.state.state).toBe("reconnecting");
      w.fire();
    }
    expect(waits).toEqual([100, 250, 500, 1000, 2000, 4000, 8000, 8000]);
    w.open();
    expect(w.json()).toEqual([{ type: "attach", session_id: "s1", acks: true }]);
    w.say(attached());
    expect(w.client.state).toMatchObject({ state: "live", retries: 0 });
    w.at().events.close();
    expect(w.timers.at(-1)?.ms).toBe(100);
  });

  it("a session that is gone after a break is said to be gone", () => {
    const w = world();
    w.open();
    w.say(attached());
    w.at().events.close();
    w.fire();
    w.open();
    w.say({ type: "error", error_code: "no_session", message: "There is no such terminal." });
    expect(w.client.state).toMatchObject({ state: "failed", failure: { code: "no_session", remedy: "Open a new terminal." } });
  });

  it("an error in a live session ends nothing", () => {
    const w = world();
    w.open();
    w.say(attached());
    w.say({ type: "error", error_code: "invalid_input", message: "That is not base64." });
    expect(w.client.state.state).toBe("live");
    expect(w.notices).toEqual(["That is not base64."]);
  });

  it("ends with exit code and signal, once, and does not connect again", () => {
    const w = world();
    w.open();
    w.say(attached());
    w.say({ type: "closed", session_id: "s1", exit_code: 137, signal: "KILL", message: "The container was removed." });
    w.at().events.close();
    expect(w.client.state).toMatchObject({ state: "ended", exit: { code: 137, signal: "KILL", reason: "The container was removed." } });
    expect(w.timers).toHaveLength(0);
    expect(w.client.input(new Uint8Array(1))).toBe(false);
  });

  it("follows what the events say of its container", () => {
    const w = world();
    w.open();
    w.say(attached());
    w.client.told({ state: "away" });
    expect(w.client.state.state).toBe("away");
    w.client.told({ state: "running", recording: "r.cast" });
    expect(w.client.state).toMatchObject({ state: "live", recording: "r.cast" });
    for (let i = 0; i < 2; i++) w.client.told({ state: "running", recording_problem: "The disk is full." });
    expect(w.client.state.recording).toBe("");
    expect(w.notices).toEqual(["The disk is full."]);
  });

  it("rubbish and a late socket change nothing", () => {
    const w = world();
    w.open();
    w.say(attached());
    const old = w.at();
    for (const t of ["", "null", "[]", "3", "{", '{"type":"what"}', '{"type":7}']) old.events.text(t);
    expect(w.client.state.state).toBe("live");
    old.events.close();
    w.fire();
    old.events.bytes(new Uint8Array(5));
    old.events.text(JSON.stringify({ type: "closed", session_id: "s1", exit_code: 0 }));
    old.events.close();
    expect(w.client.state.state).toBe("reconnecting");
    expect(w.wires).toHaveLength(2);
    w.client.dispose();
    expect(w.at().closed).toBe(true);
  });
});
