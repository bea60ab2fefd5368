import { describe, expect, it } from "vitest";
import type { Approval, ApprovalOffer, ChannelView, LoopEvent, Question } from "../api/types";
import {
  addressParts, against, announcement, answererWords, applyGate, chain, changedSince, calledName, choiceWords, gateFace, inert, INERT_MS, isGrave, keptWords, keyMeaning, needing, nextStop, programName, offersOf, patternParts, scopeName, sight,
  stateWords, stops, stopWords, timeLeft, waitingOf, wish,
} from "./gate";
import { elideMiddle, lineSegments, pathParts, visibleLine } from "./gate-text";

const at = (s: number) => new Date(Date.UTC(2026, 10, 22, 14, 0, s)).toISOString();
const approval = (id: string, more: Partial<Approval> = {}): Approval => ({
  approval_id: id, channel_id: "c", run_id: "r", spawn_id: "s", kind: "file", state: "waiting", operation: "write", target: "/home/ana/.gitconfig", calls: 1, title: "Write to a file outside the project",
  why: "the default is to ask", processes: [{ pid: 3, exe: "/usr/bin/git", command: "git config --global x y" }, { pid: 2, exe: "/bin/bash", command: "bash -c …" }, { pid: 1, command: "/usr/local/bin/claude -p" }],
  digest: `d-${id}`, created_at: at(0), ...more,
});
const event = (type: string, data: unknown, more: object = {}) => ({ seq: 1, type, timestamp: 1, data, ...more }) as LoopEvent;
const none = { approvals: [] as Approval[], answered: [] as Approval[] };
const ids = (list: Approval[]) => list.map((a) => a.approval_id);
const channel = (id: string, state = "working") => ({ channel_id: id, state }) as ChannelView;

describe("pages that a browser is about to open", () => {
  const parts = (target: string, site: string) => Object.values(addressParts({ target, site }));
  it("shows which part of the address an answer is about", () => {
    expect(parts("https://www.example.com/a?b", "example.com")).toEqual(["https://www.", "example.com", "/a?b"]);
    expect(parts("http://example.com:8080", "example.com")).toEqual(["http://", "example.com", ":8080"]);
    expect(parts("https://paypal.com@evil.net/paypal.com", "evil.net")).toEqual(["https://paypal.com@", "evil.net", "/paypal.com"]);
    expect(parts("http://[2001:db8::1]/x", "2001:db8::1")).toEqual(["http://", "[2001:db8::1]", "/x"]);
    expect(parts("https://example.com/", "other.com")).toEqual(["https://example.com/", "", ""]);
    expect(parts("nonsense", "")).toEqual(["nonsense", "", ""]);
  });
  it("names the browser as who asks", () => {
    expect(wish(approval("n", { kind: "navigate", operation: "navigate", target: "https://a.com/", processes: [] }))).toBe("The browser wants to open");
  });
});

describe("approvals that wait", () => {
  it("are in the order in which they came, whatever order they are told in", () => {
    expect(ids(waitingOf([approval("b", { created_at: at(2) }), approval("a", { created_at: at(1) }), approval("x", { state: "denied" })]))).toEqual(["a", "b"]);
    let h = applyGate(none, event("gate.asked", approval("late", { created_at: at(5) })));
    h = applyGate(h, event("gate.asked", approval("early", { created_at: at(1) })));
    h = applyGate(h, event("gate.asked", approval("early", { created_at: at(1) })));
    expect(ids(h.approvals)).toEqual(["early", "late"]);
    expect(waitingOf(null)).toEqual([]);
  });
  it("change, end, and do not come back", () => {
    let h = applyGate(none, event("gate.asked", approval("a")));
    h = applyGate(h, event("gate.changed", approval("a", { calls: 3, digest: "other" })));
    expect(h.approvals[0]?.calls).toBe(3);
    h = applyGate(h, event("gate.resolved", approval("a", { state: "withdrawn" })));
    h = applyGate(h, event("gate.changed", approval("a")));
    expect([ids(h.approvals), ids(h.answered)]).toEqual([[], ["a"]]);
  });
  it("are forgotten with their channel, and only the last answers are kept", () => {
    let h = applyGate({ approvals: [approval("a"), approval("b", { channel_id: "d" })], answered: [] }, event("channel.deleted", null, { channel_id: "c" }));
    expect(ids(h.approvals)).toEqual(["b"]);
    for (let i = 0; i < 14; i++) h = applyGate(h, event("gate.resolved", approval(`x${i}`, { state: "denied" })));
    expect(ids(h.answered)).toEqual(["x13", "x12", "x11", "x10", "x9", "x8", "x7", "x6", "x5", "x4"]);
  });
  it("are not made by other events, nor by broken ones", () => {
    expect(applyGate(none, event("tool.use", approval("a")))).toBe(none);
    expect(applyGate(none, event("gate.asked", null))).toBe(none);
    expect(applyGate(none, event("channel.deleted", null, { channel_id: "c" }))).toBe(none);
  });
  it("make their channel need the person, where it is shown", () => {
    const all = [channel("c"), channel("d", "done"), channel("e", "needs_you")];
    expect(needing(all, [])).toBe(all);
    expect(needing(all, [approval("a"), approval("b", { channel_id: "d" })]).map((c) => c.state)).toEqual(["needs_you", "needs_you", "needs_you"]);
    expect(all[0]?.state).toBe("working");
  });
  it("come before a browser that the person holds while its agent waits", () => {
    const held = (id: string, state?: ChannelView["state"]) => ({ ...channel(id, state), browser_held: true });
    const all = [held("c"), held("d", "needs_you"), held("e"), channel("f")];
    expect(needing(all, [approval("a")]).map((c) => [c.state, c.driven])).toEqual([["needs_you", undefined], ["needs_you", undefined], ["needs_you", true], ["working", undefined]]);
    expect(stops([approval("a")], [], all).map((s) => [s.id, s.browser])).toEqual([["a", undefined], ["d", undefined], ["e", true]]);
  });
});

describe("the queue that F8 walks", () => {
  const q = { question_id: "q", channel_id: "d", created_at: at(2) } as Question;
  const all = stops([approval("a", { created_at: at(1) }), approval("b", { created_at: at(3) })], [q], [channel("e", "needs_you"), channel("d", "needs_you"), channel("f")]);
  it("has approvals and questions, oldest first, then channels that say no more", () => {
    expect(all.map((s) => s.id)).toEqual(["a", "q", "b", "e"]);
  });
  it("is walked round and round, forth and back, and begins with the oldest", () => {
    expect(nextStop(all, "")?.id).toBe("a");
    expect(nextStop(all, "a")?.id).toBe("q");
    expect(nextStop(all, "e")?.id).toBe("a");
    expect(nextStop(all, "a", true)?.id).toBe("e");
    expect(nextStop(all, "answered meanwhile")?.id).toBe("a");
    expect(nextStop(all, "", true)?.id).toBe("e");
    expect(nextStop([], "a")).toBeUndefined();
  });
  it("says how long it is, and the place in it", () => {
    expect(stopWords(all, "q")).toBe("2 of 4 waiting for you");
    expect(stopWords(all, "")).toBe("4 waiting for you");
    expect(stopWords(all.slice(0, 1), "a")).toBe("1 waiting for you");
  });
});

describe("keys in a card", () => {
  const key = (k: string, more: object = {}) => keyMeaning({ key: k, mod: false, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, repeat: false, ...more });
  const ctrl = { mod: true, ctrlKey: true };
  it("deny with Escape, allow with the chord, and show the rule", () => {
    expect([key("Escape"), key("Enter", ctrl), key("r"), key("R")]).toEqual(["deny", "allow", "rule", "rule"]);
  });
  it("do nothing with Enter and numbers", () => {
    for (const k of ["Enter", "1", "2", "9", "0"]) expect(key(k)).toBe("nothing");
    for (const more of [{ shiftKey: true }, { altKey: true }, { ...ctrl, shiftKey: true }, { ...ctrl, altKey: true }]) expect(key("Enter", more)).toBe("nothing");
  });
  it("answer nothing while they are held down", () => {
    for (const [k, more] of [["Escape", {}], ["Enter", ctrl], ["r", {}]] as const) expect(key(k, { ...more, repeat: true })).toBe("nothing");
  });
  it("are the page's where they mean something else", () => {
    for (const [k, more] of [["F8", {}], ["Tab", {}], [" ", {}], ["a", {}], ["y", {}], ["r", ctrl], ["Escape", { shiftKey: true }], ["1", ctrl], ["ArrowDown", {}]] as const) expect(key(k, more)).toBe("");
  });
  it("wait for half a second", () => {
    expect([inert(1000, 1000), inert(1000, 999 + INERT_MS), inert(1000, 1000 + INERT_MS)]).toEqual([true, true, false]);
    expect([changedSince("", "a"), changedSince("a", "a"), changedSince("a", ""), changedSince("a", "b")]).toEqual([false, false, false, true]);
    const a = approval("a");
    expect(sight({ ...a, deadline: at(9) })).toBe(sight(a));
    for (const more of [{ calls: 2 }, { digest: "x" }, { approval_id: "b" }]) expect(sight({ ...a, ...more })).not.toBe(sight(a));
    // A flood grows all the time, and its answer is about all of it.
    expect(sight({ ...a, kind: "flood", calls: 2 })).toBe(sight({ ...a, kind: "flood", calls: 1 }));
  });
});

describe("the words of a card", () => {
  it("count the time down", () => {
    const left = (s: number) => timeLeft({ deadline: at(0) }, Date.parse(at(0)) - s * 1000);
    expect([left(252), left(60), left(0.2), left(0), left(-5), left(3725)]).toEqual(["4:12", "1:00", "0:00", "0:00", "0:00", "1:02:05"]);
    expect([timeLeft({}, 0), timeLeft({ deadline: "0001-01-01T00:00:00Z" }, 0), timeLeft({ deadline: "soon" }, 0)]).toEqual(["", "", ""]);
  });
  it("say who asks, from the first process to the last", () => {
    const said = (a: Approval) => {
      const c = chain(a);
      return [c.parents.map((p) => programName(p) || calledName(p)), programName(c.asks), c.claim, c.whole];
    };
    expect(said(approval("a"))).toEqual([["claude", "bash"], "git", "git config --global x y", ""]);
    expect(said(approval("a", { processes: null }))).toEqual([[], "", "", ""]);
    const claude = { pid: 1, exe: "/usr/local/bin/claude", command: "claude --print", short: "claude" };
    const bash = { pid: 2, exe: "/usr/bin/bash", command: "/bin/bash -c eval 'make'", short: "make" };
    expect(said(approval("a", { processes: [bash, claude] }))).toEqual([["claude"], "bash", "make", bash.command]);
    const unknown = { pid: 3, command: "/x/git status" };
    expect(said(approval("a", { processes: [unknown, bash, claude] }))).toEqual([["claude", "bash"], "", "/x/git status", ""]);
    expect(wish(approval("a", { processes: [unknown] }))).toBe("A program that says it is git wants to write to");
    expect(wish(approval("a"))).toBe("git wants to write to");
    expect(wish(approval("a", { processes: [], operation: "", kind: "execve" }))).toBe("A program wants to run");
    expect(wish(approval("a", { kind: "flood", calls: 23 }))).toBe("23 calls of this run wait");
    expect(wish(approval("a", { kind: "flood", calls: 1, run_id: "" }))).toBe("1 call of this program waits");
  });
  it("name scopes, in a terminal by its program", () => {
    const [run, terminal] = [approval("a"), approval("b", { run_id: "" })];
    expect([choiceWords({ allow: true, scope: "run" }, run), choiceWords({ allow: false, scope: "project" }, run), choiceWords({ allow: true, scope: "run" }, terminal)])
      .toEqual(["Allow for this run", "Deny for this project", "Allow for this program"]);
    expect([scopeName("run", run), scopeName("always", run), scopeName("run", terminal)]).toEqual(["This run", "Always", "This program"]);
    expect([keptWords("run", run), keptWords("run", terminal), keptWords("always", run)]).toEqual(["kept until this run ends", "kept until this program ends", "kept for all projects"]);
  });
  it("say how it ended, by whom and when", () => {
    const done = (more: Partial<Approval>) => approval("a", { resolved_at: at(12), ...more });
    const said = (more: Partial<Approval>) => [stateWords(done(more)), answererWords(done(more))];
    expect(said({ state: "allowed", scope: "once", by: "window" })).toEqual(["Allowed once", "by you after 12 s"]);
    expect(said({ state: "denied", scope: "project", by: "command line" })).toEqual(["Denied for this project", "by you, on the command line after 12 s"]);
    expect(said({ state: "expired", by: "time" })).toEqual(["Denied: nobody answered in time", "after 12 s"]);
    expect(said({ state: "withdrawn" })[0]).toContain("Withdrawn");
    expect(said({ state: "broken" })[0]).toBe("Denied: the link broke");
    expect(said({ state: "allowed", kind: "flood", by: "window" })[0]).toBe("Asked one by one");
    expect(answererWords(approval("a", { state: "denied" }))).toBe("");
  });
  it("are told once to a screen reader, and not what the person did", () => {
    expect(announcement(approval("a"), "api", "F9")).toBe("api waits for you: Write to a file outside the project. F9 goes there.");
    expect(announcement(approval("a"), "api", "")).toBe("api waits for you: Write to a file outside the project.");
    expect(announcement(approval("a", { state: "expired" }), "api", "F8")).toContain("nobody answered");
    expect(announcement(approval("a", { state: "allowed" }), "api", "F8")).toBe("");
  });
  it("offer what may be remembered, and warn of earlier answers", () => {
    const offer = (decision: string, more: object = {}) => ({ scope: "run", pattern: "p", rule: "{}", matches: [{ at: at(0), what: "x", decision, ...more }] }) as ApprovalOffer;
    expect(offersOf(approval("a", { offers: [offer("allowed"), { ...offer("allowed"), scope: "once" }] })).length).toBe(1);
    expect([offersOf(approval("a")), offersOf(approval("a", { kind: "flood", offers: [offer("denied")] }))]).toEqual([[], []]);
    expect(against(offer("denied"), true)).toBe("You denied one of these. With this rule it would not have been asked.");
    expect(against(offer("allowed"), false)).toContain("You allowed one");
    expect([against(offer("allowed"), true), against(offer("denied", { own: true }), true), against({ ...offer("x"), matches: undefined }, true)]).toEqual(["", "", ""]);
  });
  it("set the wide parts of a pattern apart, and dangerous objects", () => {
    expect(patternParts("/home/ana/.gitconfig{,.lock}").map((p) => [p.text, p.wide])).toEqual([["/home/ana/.gitconfig", false], ["{,.lock}", true]]);
    expect(patternParts("/a/**/b?").filter((p) => p.wide).map((p) => p.text)).toEqual(["**", "?"]);
    expect([isGrave({ category: "credential" }), isGrave({ category: "startup" }), isGrave({})]).toEqual([true, false, false]);
  });
});

describe("a path in one line", () => {
  it("hides nothing: line ends, colours, blanks at its ends, directions", () => {
    expect(visibleLine("/a\n/b")).toBe("/a⟨LF⟩/b");
    expect(visibleLine("/a\u001b[31mx\r\ty")).toBe("/a⟨ESC⟩[31mx⟨CR⟩⟨TAB⟩y");
    expect(visibleLine("/a/b  ")).toBe("/a/b⟨SP×2⟩");
    expect(visibleLine("/a b\u00a0c\u202ed\u2003")).toBe("/a b⟨NBSP⟩c⟨RLO⟩d⟨U+2003⟩");
    expect(lineSegments("")).toEqual([]);
  });
  it("shows its end whole, however long it is", () => {
    const long = `/${"deep/".repeat(60)}end.sh`;
    const short = elideMiddle(long, 60);
    expect(Array.from(short).length).toBe(60);
    expect([short.startsWith("/deep/"), short.endsWith("deep/end.sh"), short.includes("…")]).toEqual([true, true, true]);
    expect(elideMiddle("short", 60)).toBe("short");
    expect(elideMiddle("😀".repeat(40), 10)).toBe(`${"😀".repeat(3)}…${"😀".repeat(6)}`);
  });
  it("is a folder and a name", () => {
    expect(pathParts("/home/ana/.gitconfig")).toEqual({ folder: "/home/ana/", name: ".gitconfig" });
    expect(pathParts("/home/ana/")).toEqual({ folder: "/home/", name: "ana/" });
    expect(pathParts("host:443")).toEqual({ folder: "", name: "host:443" });
  });
});

describe("the gate in the status bar", () => {
  it("is known to hold only where it says so", () => {
    expect(gateFace({ state: "on", text: "on" })).toEqual({ tone: "on", text: "Gate on" });
    expect(gateFace({ state: "broken", text: "Gate broken: no reply" })).toEqual({ tone: "broken", text: "Gate broken: no reply" });
    expect(gateFace({ state: "off", text: "" })).toEqual({ tone: "off", text: "Gate off" });
    expect(gateFace({ state: "record", text: "Gate only records" })).toEqual({ tone: "record", text: "Gate only records" });
    expect(gateFace({ state: "shadow", text: "" })).toEqual({ tone: "shadow", text: "Gate only watches" });
    for (const g of [null, { state: "fine", text: "" }]) expect(gateFace(g)).toEqual({ tone: "unknown", text: "Gate not known" });
  });
});
