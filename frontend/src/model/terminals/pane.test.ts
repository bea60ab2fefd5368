import { describe, expect, it } from "vitest";
import type { ClientState } from "./client";
import type { Pane, PaneEffect, PaneEvent } from "./pane";
import { AWAY_MS, BELL_MS, NOTICE_MS, paneStep, RESYNC_MS, startPane } from "./pane";

const client = (more: Partial<ClientState> = {}): ClientState => ({
  state: "live", sessionId: "s", channelId: "c", target: "agent", title: "", cols: 80, rows: 24, exit: null, failure: null, recording: "", retries: 0, ...more,
});
const drawn: PaneEvent = { type: "drawn", running: false };
const b64 = (s: string) => Buffer.from(s).toString("base64");

/** A pane after some events, and the effects that it asked for. */
function after(...events: PaneEvent[]): { p: Pane; did: PaneEffect[] } {
  const did: PaneEffect[] = [];
  let p = startPane(true);
  for (const e of events) {
    const [next, effects] = paneStep(p, e);
    p = next;
    did.push(...effects);
  }
  return { p, did };
}
const does = (list: PaneEffect[]) => list.map((e) => e.do);

describe("a snapshot", () => {
  it("is no news: titles, bells, prompts, old wishes of programs and output in it do nothing", () => {
    const silent: PaneEvent[] = [
      { type: "title", text: "old" }, { type: "bell", attended: false, sound: true }, { type: "prompt" }, { type: "command" },
      { type: "clipboard", data: `c;${b64("x")}` }, { type: "box", seen: false }, { type: "output" },
    ];
    const { p, did } = after(...silent);
    expect(did).toEqual([]);
    expect([p.title, p.bell, p.unseen, p.notice]).toEqual(["", false, false, null]);
  });

  it("keeps marks and place of what it replaces, once", () => {
    expect(does(after({ type: "snapshot" }).did)).toEqual([]); // there is no picture to keep
    const { p, did } = after(drawn, { type: "snapshot" }, { type: "snapshot" }, drawn);
    expect(does(did)).toEqual(["keep"]);
    expect([p.drawn, p.loading]).toEqual([true, false]);
  });
});

describe("reports that a killed program left on", () => {
  it("end at the prompt, and again after a snapshot that still has them", () => {
    expect(does(after(drawn, { type: "prompt" }).did)).toEqual(["recover"]);
    expect(does(after(drawn, { type: "leak" }, { type: "snapshot" }, drawn).did)).toEqual(["keep", "stop-reports"]);
  });

  it("are the next command's own", () => {
    expect(does(after(drawn, { type: "leak" }, { type: "command" }, { type: "snapshot" }, drawn).did)).toEqual(["keep"]);
    expect(does(after(drawn, { type: "leak" }, { type: "snapshot" }, { type: "drawn", running: true }).did)).toEqual(["keep"]);
  });
});

describe("a bell", () => {
  const ring = (attended: boolean, sound = false): PaneEvent => ({ type: "bell", attended, sound });
  it("flashes, sounds if that is wished, and is unread until the pane is attended", () => {
    const { p, did } = after(drawn, ring(false, true));
    expect([p.ringing, p.bell]).toEqual([true, true]);
    expect(did).toEqual([{ do: "later", ms: BELL_MS, event: { type: "bell-over" } }, { do: "beep" }]);
    const over = after(drawn, ring(false), { type: "bell-over" }).p;
    expect([over.ringing, over.bell]).toEqual([false, true]);
    expect(after(drawn, ring(false), { type: "attended" }).p.bell).toBe(false);
  });
  it("is read where somebody looks", () => {
    const { p, did } = after(drawn, ring(true));
    expect([p.ringing, p.bell]).toEqual([true, false]);
    expect(does(did)).toEqual(["later"]);
  });
});

describe("output behind another pane", () => {
  it("is marked until it has a place on the screen again", () => {
    const gone: PaneEvent[] = [drawn, { type: "box", seen: false }];
    expect(after(...gone).p.unseen).toBe(false);
    expect(after(...gone, { type: "output" }).p.unseen).toBe(true);
    expect(after(...gone, { type: "output" }, { type: "box", seen: true }).p.unseen).toBe(false);
    expect(after(drawn, { type: "output" }).p.unseen).toBe(false);
  });
  it("changes nothing that is not to be drawn: the same state comes back", () => {
    const { p } = after(drawn);
    for (const e of [{ type: "output" }, { type: "box", seen: true }, { type: "behind", behind: false }, { type: "attended" }, { type: "notice-over", id: 7 }] as PaneEvent[]) {
      expect(paneStep(p, e)[0], e.type).toBe(p);
    }
  });
});

describe("sight", () => {
  it("a window out of sight lets go after a while, and takes up at once", () => {
    expect(after({ type: "sight", hidden: true }).did).toEqual([{ do: "later", ms: AWAY_MS, event: { type: "away" } }]);
    expect(after({ type: "away" }).did).toEqual([{ do: "show", visible: false }]);
    expect(after({ type: "sight", hidden: false }).did).toEqual([{ do: "never", event: "away" }, { do: "show", visible: true }]);
  });
  it("a pane that the layout hides stays hidden when the window comes back", () => {
    expect(after({ type: "show", visible: false }, { type: "sight", hidden: false }).did.at(-1)).toEqual({ do: "show", visible: false });
    expect(after({ type: "show", visible: false }, { type: "show", visible: true }).did).toEqual([{ do: "show", visible: false }, { do: "show", visible: true }]);
  });
});

describe("what comes into a terminal", () => {
  const paste = (text: string, more: Partial<Extract<PaneEvent, { type: "paste" }>> = {}): PaneEvent => ({ type: "paste", text, bracketed: false, sure: false, ...more });
  it("one line is inserted, several are asked for, and an answer is final", () => {
    expect(after(paste("ls")).did).toEqual([{ do: "insert", text: "ls" }]);
    const asked = after(paste("one\ntwo"));
    expect([asked.p.paste, asked.did]).toEqual(["one\ntwo", []]);
    expect(after(paste("one\ntwo"), { type: "answered" }).p.paste).toBeNull();
    expect(after(paste("one\ntwo"), { type: "answered" }, paste("one\ntwo", { sure: true })).did).toEqual([{ do: "insert", text: "one\ntwo" }]);
    expect(after(paste("one\ntwo", { bracketed: true })).did).toEqual([{ do: "insert", text: "one\ntwo" }]);
  });
  it("what was left out, or is too much, is said", () => {
    const cleaned = after(paste("a\u001b[201~; rm -rf /\u0007"));
    expect(cleaned.did[0]).toEqual({ do: "insert", text: "a; rm -rf /" });
    expect(cleaned.p.notice?.text).toContain("Control characters were left out");
    const huge = after(paste("x".repeat(2_000_000)));
    expect(huge.p.notice?.text).toContain("too much for one paste");
    expect(does(huge.did)).toEqual(["later"]);
    expect(after(paste("")).did).toEqual([]);
  });
});

describe("the clipboard and programs", () => {
  const wish = (data: string) => after(drawn, { type: "clipboard", data });
  it("may be written, with a notice", () => {
    expect(wish(`c;${b64("by a program")}`).did[0]).toEqual({ do: "copied", text: "by a program", primary: false });
    expect(wish(`p;${b64("x")}`).did[0]).toEqual({ do: "copied", text: "x", primary: true });
    expect(wish(`c;${b64("by a program")}`).p.notice?.text).toBe("A program copied 12 characters.");
  });
  it("is never read, nor filled, and nonsense is nothing", () => {
    expect(wish("c;?").p.notice?.text).toBe("A program wanted to read the clipboard. Loop refused it.");
    expect(wish(`c;${b64("x".repeat(120_000))}`).p.notice?.text).toContain("more than 100 KB");
    for (const bad of ["", "c;", "c;***", "zz;eA=="]) expect([wish(bad).did, wish(bad).p.notice]).toEqual([[], null]);
  });
});

describe("notices", () => {
  it("stand as long as they take to read, and only the last one goes by its time", () => {
    const long = "x".repeat(200);
    expect(after({ type: "notice", text: "short" }).did).toEqual([{ do: "later", ms: NOTICE_MS, event: { type: "notice-over", id: 1 } }]);
    expect(after({ type: "notice", text: long }).did).toMatchObject([{ ms: 14_000 }]);
    const two: PaneEvent[] = [{ type: "notice", text: "one" }, { type: "notice", text: "two" }];
    expect(after(...two, { type: "notice-over", id: 1 }).p.notice?.text).toBe("two");
    expect(after(...two, { type: "notice-over", id: 2 }).p.notice).toBeNull();
  });
  it("say which way Tab goes", () => {
    const on = after({ type: "tab-moves" });
    expect([on.p.tabMoves, on.p.notice?.text]).toEqual([true, "Tab moves the focus now."]);
    const off = after({ type: "tab-moves" }, { type: "tab-moves" });
    expect([off.p.tabMoves, off.p.notice?.text]).toEqual([false, "Tab goes to the program again."]);
  });
});

it("a title of the session's counts once: what the program says later stays", () => {
  const of = (...events: PaneEvent[]) => after(drawn, ...events).p.title;
  expect(of({ type: "client", client: client({ title: "shell" }) })).toBe("shell");
  expect(of({ type: "client", client: client({ title: "shell" }) }, { type: "title", text: "vim" }, { type: "client", client: client({ title: "shell", cols: 90 }) })).toBe("vim");
  expect(of({ type: "title", text: "vim" }, { type: "client", client: client({ title: "new" }) })).toBe("new");
});

it("lost output is asked for again, not more often than it can be drawn", () => {
  const lost = (at: number): PaneEvent => ({ type: "lost", at });
  expect(does(after(drawn, lost(0), lost(RESYNC_MS - 1), lost(RESYNC_MS)).did)).toEqual(["resync", "resync"]);
  expect(after(lost(0)).did).toEqual([]); // a snapshot is on its way
});

it("the search is asked for again, and closed", () => {
  const { p } = after({ type: "search" }, { type: "search" });
  expect([p.searching, p.searches]).toEqual([true, 2]);
  expect(after({ type: "search" }, { type: "search-closed" }).p.searching).toBe(false);
});

describe("what is typed while nothing can take it", () => {
  const at = (state: ClientState["state"]): PaneEvent => ({ type: "client", client: client({ state }) });
  const typed: PaneEvent = { type: "unsent" };

  it("is refused in words, and once more when the program is back", () => {
    for (const [state, words] of [["away", "Not sent: the container cannot be reached now."], ["reconnecting", "Not sent: Loop does not answer."], ["connecting", "Not sent: the terminal is not open yet."]] as const) {
      const gone = after(at("live"), drawn, at(state), typed, typed);
      expect(gone.p.notice?.text).toBe(words);
      expect(gone.p.notice?.id).toBe(1); // read out once, however many keys come
      expect(gone.did.filter((e) => e.do === "later")).toHaveLength(2);
      const back = after(at("live"), drawn, at(state), typed, at("reconnecting"), at("away"), at("live"));
      expect(back.p.notice?.text).toBe("What you typed meanwhile was not sent. Type it again.");
      expect(after(at(state), typed, at("live"), at("live")).p.notice?.id).toBe(2);
    }
  });

  it("is no news where nothing was typed, or where the terminal itself says that it is over", () => {
    expect(after(at("live"), at("away"), at("live")).p.notice).toBeNull();
    expect(after(at("ended"), typed).p.notice).toBeNull();
    expect(after(at("failed"), typed).p.notice).toBeNull();
    expect(after(at("away"), typed, at("ended"), at("live")).p.notice?.text).not.toContain("meanwhile");
  });

  it("is refused where a connection broke that still counts as live", () => {
    expect(after(at("live"), typed).p.notice?.text).toBe("Not sent: the terminal is not connected.");
    const refused = after(at("live"), at("away"), { type: "unsent", text: "What was typed was not sent: no container." });
    expect(refused.p.notice?.text).toBe("What was typed was not sent: no container.");
    expect(after(at("live"), at("away"), { type: "unsent", text: "No." }, at("live")).p.notice?.text).toContain("Type it again");
    const there = after(at("live"), { type: "unsent", text: "The program is not reading its input." });
    expect([there.p.notice?.text, there.p.unsent]).toEqual(["The program is not reading its input.", false]);
    expect(after(typed).p.notice?.text).toBe("Not sent: the terminal is not open yet.");
  });
});
