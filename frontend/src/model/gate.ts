// Approvals: acts of agents that the kernel holds until a person answers. Here is what the
// page knows of them: which ones wait and in what order, what keys mean, and the words.
import type { Approval, ApprovalOffer, ApprovalProcess, ApprovalScope, ApprovalState, ChannelID, ChannelView, GateStatus, LoopEvent, Question } from "../api/types";
import { basename } from "./gate-text";
import { duration, plural } from "./format";

/** The kind of the panel that lists what waits. */
export const WAITING_PANEL = "waiting";

/** A card does nothing for this time after it appeared, changed or came back, because a person may have meant something else. */
export const INERT_MS = 500;

const ANSWERED_KEPT = 10;

export type Held = { approvals: Approval[]; answered: Approval[] };

/** Waiting ones oldest first. Two of one moment keep one order everywhere. */
function ordered(list: Approval[]): Approval[] {
  return [...list].sort((a, b) => a.created_at.localeCompare(b.created_at) || a.approval_id.localeCompare(b.approval_id));
}

export function waitingOf(list: Approval[] | null | undefined): Approval[] {
  return ordered((list ?? []).filter((a) => a.state === "waiting"));
}

/** Applies an event. It is safe to apply one twice. answered has the last ones that need no answer any more, newest first. */
export function applyGate<T extends Held>(h: T, ev: LoopEvent): T {
  if (ev.type === "channel.deleted") {
    const stays = (a: Approval) => a.channel_id !== ev.channel_id;
    return h.approvals.every(stays) && h.answered.every(stays) ? h : { ...h, approvals: h.approvals.filter(stays), answered: h.answered.filter(stays) };
  }
  if (ev.type !== "gate.asked" && ev.type !== "gate.changed" && ev.type !== "gate.resolved") return h;
  const a = ev.data as Approval | undefined;
  if (!a?.approval_id) return h;
  const others = h.approvals.filter((x) => x.approval_id !== a.approval_id);
  if (a.state === "waiting") {
    // An answered one never waits again: its question was told late.
    if (h.answered.some((x) => x.approval_id === a.approval_id)) return h;
    return { ...h, approvals: ordered([...others, a]) };
  }
  // It goes on waiting in the question of its run, and so is not answered.
  if (a.state === "gathered") return { ...h, approvals: others };
  const answered = [a, ...h.answered.filter((x) => x.approval_id !== a.approval_id)].slice(0, ANSWERED_KEPT);
  return { ...h, approvals: others, answered };
}

export const approvalsOf = (list: Approval[], channel: ChannelID): Approval[] => list.filter((a) => a.channel_id === channel);

/** Whether the card of an approval is in its channel's timeline. A terminal has none, so its card is in the panel. */
export const inTimeline = (a: Approval): boolean => Boolean(a.run_id);

/** Whether an agent of the channel waits for the person, who drives its browser, and for nothing else. */
export const onlyDriven = (c: ChannelView): boolean => c.browser_held === true && c.state !== "needs_you";

/** The channels as they are shown: one with an approval, or whose browser the person holds, needs the person, whatever else goes on in it. */
export function needing(channels: ChannelView[], approvals: Approval[]): ShownChannel[] {
  if (approvals.length === 0 && !channels.some((c) => c.browser_held)) return channels;
  const held = new Set(approvals.map((a) => a.channel_id));
  return channels.map((c) => {
    if (held.has(c.channel_id)) return c.state === "needs_you" ? c : { ...c, state: "needs_you" };
    return onlyDriven(c) ? { ...c, state: "needs_you", driven: true } : c;
  });
}

/** driven: the person is needed at its browser alone. */
export type ShownChannel = ChannelView & { driven?: boolean };

// --- the queue that F8 walks ---

/** A place where the person is needed: an approval, a question, or a channel that says so; browser: there in its browser. */
export type Stop = { id: string; channel: ChannelID; approval: Approval | null; browser?: boolean };

export function stops(approvals: Approval[], questions: Question[], channels: ChannelView[]): Stop[] {
  const timed = [
    ...approvals.map((a) => ({ at: a.created_at, stop: { id: a.approval_id, channel: a.channel_id, approval: a } })),
    ...questions.map((q) => ({ at: q.created_at ?? "", stop: { id: q.question_id, channel: q.channel_id, approval: null } })),
  ].sort((a, b) => a.at.localeCompare(b.at));
  const out: Stop[] = timed.map((t) => t.stop);
  const others = channels.filter((c) => (c.state === "needs_you" || c.browser_held) && !out.some((s) => s.channel === c.channel_id));
  return [...out, ...others.map((c) => ({ id: c.channel_id, channel: c.channel_id, approval: null, ...(onlyDriven(c) ? { browser: true } : {}) }))];
}

/** The stop after or before the one that the person is at. Who is at none begins with the oldest, or back from the newest. */
export function nextStop(all: Stop[], at: string, back = false): Stop | undefined {
  const i = all.findIndex((s) => s.id === at);
  if (i < 0) return back ? all.at(-1) : all[0];
  return all[(i + (back ? -1 : 1) + all.length) % all.length];
}

/** “1 of 3 waiting for you”, or without the place where the person is at none. */
export function stopWords(all: Stop[], at: string): string {
  const i = all.findIndex((s) => s.id === at);
  return i >= 0 && all.length > 1 ? `${i + 1} of ${all.length} waiting for you` : `${all.length} waiting for you`;
}

// --- a card ---

export type Key = { key: string; mod: boolean; ctrlKey: boolean; metaKey: boolean; altKey: boolean; shiftKey: boolean; repeat: boolean };
export type KeyMeaning = "deny" | "allow" | "rule" | "nothing" | "";

/**
 * What a key means in a card. "nothing": the card takes the key and does nothing with it.
 * "": the key is not the card's. A held key answers nothing.
 */
export function keyMeaning(e: Key): KeyMeaning {
  const plain = !e.ctrlKey && !e.metaKey && !e.altKey && !e.shiftKey;
  if (e.key === "Enter") return e.mod && !e.altKey && !e.shiftKey && !e.repeat ? "allow" : "nothing";
  if (e.key === "Escape" && plain) return e.repeat ? "nothing" : "deny";
  if (/^\d$/.test(e.key)) return e.ctrlKey || e.metaKey || e.altKey ? "" : "nothing";
  if (e.key.toLowerCase() === "r" && plain) return e.repeat ? "nothing" : "rule";
  return "";
}

export const inert = (since: number, now: number): boolean => now - since < INERT_MS;

/** Whether a text is another one than when it was opened. "" is one that was not read yet. */
export const changedSince = (opened: string, now: string): boolean => opened !== "" && now !== "" && opened !== now;

/**
 * What makes a card another one to the eye: an answer to it was not meant for what it shows now.
 * The calls of a flood go on growing, and its answer is about all of them.
 */
export const sight = (a: Approval): string => [a.approval_id, a.state, a.digest, a.kind === "flood" ? "" : a.calls].join(" ");

/** The time until it is denied, as on a clock: "4:12", "1:02:05". "" if it waits for the person. */
export function timeLeft(a: Pick<Approval, "deadline">, now: number): string {
  const end = Date.parse(a.deadline ?? "");
  if (!Number.isFinite(end) || end <= 0) return "";
  const s = Math.max(0, Math.floor((end - now) / 1000)); // the page's clock is behind by up to a second
  const two = (n: number) => String(n).padStart(2, "0");
  const h = Math.floor(s / 3600);
  const m = Math.floor(s / 60) % 60;
  return h > 0 ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}

const SCOPE_WORDS: Record<ApprovalScope, string> = { once: "once", run: "for this run", project: "for this project", always: "always" };
const KEPT: Record<ApprovalScope, string> = { once: "", run: "kept until this run ends", project: "kept for this project", always: "kept for all projects" };

/** “For this run” is wrong of a terminal, which has programs and no runs. */
export function scopeWords(scope: ApprovalScope, a: Pick<Approval, "run_id">): string {
  return scope === "run" && !a.run_id ? "for this program" : (SCOPE_WORDS[scope] ?? scope);
}

export function scopeName(scope: ApprovalScope, a: Pick<Approval, "run_id">): string {
  const w = scopeWords(scope, a).replace(/^for /, "");
  return w.charAt(0).toUpperCase() + w.slice(1);
}

export function keptWords(scope: ApprovalScope, a: Pick<Approval, "run_id">): string {
  return scope === "run" && !a.run_id ? "kept until this program ends" : (KEPT[scope] ?? "");
}

/** What the buttons with a scope do: allow or deny, and what is remembered. */
export type Choice = { allow: boolean; scope: ApprovalScope };

export const choiceWords = (c: Choice, a: Pick<Approval, "run_id">): string => `${c.allow ? "Allow" : "Deny"} ${scopeWords(c.scope, a)}`;

/** Offers for answers that are remembered. One for a single time is no offer. */
export const offersOf = (a: Approval): ApprovalOffer[] => (a.kind === "flood" ? [] : (a.offers ?? []).filter((o) => o.scope !== "once"));

/** Earlier answers that the rule would have gone against, in a sentence, or "". */
export function against(o: ApprovalOffer, allow: boolean): string {
  const n = (o.matches ?? []).filter((m) => !m.own && m.decision === (allow ? "denied" : "allowed")).length;
  if (n === 0) return "";
  return `You ${allow ? "denied" : "allowed"} ${n === 1 ? "one" : n} of these. With this rule ${n === 1 ? "it" : "they"} would not have been asked.`;
}

/** The pattern in pieces: wide ones match more than what they stand for. */
export function patternParts(pattern: string): { text: string; wide: boolean }[] {
  return pattern.split(/(\{[^{}]*\}|\*+|\?|\[[^\]]*\])/).filter(Boolean).map((text) => ({ text, wide: /^(\{|\*|\?|\[)/.test(text) }));
}

/** Classes of objects that no answer is remembered for. */
const GRAVE = new Set(["credential", "socket", "escape", "gate"]);
export const isGrave = (a: Pick<Approval, "category">): boolean => GRAVE.has(a.category ?? "");

const STATE_WORDS: Record<ApprovalState, string> = {
  waiting: "Waiting for you", allowed: "Allowed", denied: "Denied", expired: "Denied: nobody answered in time",
  withdrawn: "Withdrawn: nothing waits for it any more", broken: "Denied: the link broke", gathered: "Asked with others",
};

/** How an approval stands. The words of an answer name its scope. */
export function stateWords(a: Approval): string {
  if (a.kind === "flood" && a.state === "allowed") return a.reason ? a.reason.charAt(0).toUpperCase() + a.reason.slice(1) : "Asked one by one";
  const word = STATE_WORDS[a.state] ?? a.state;
  return (a.state === "allowed" || a.state === "denied") && a.scope ? `${word} ${scopeWords(a.scope, a)}` : word;
}

const BY: Record<string, string> = { window: "you", dialog: "you, in the dialog", notification: "you, by a notification", "command line": "you, on the command line", rule: "a rule", time: "" };

/** Who answered, and after how long: “by you after 1 m 12 s”. */
export function answererWords(a: Approval): string {
  const took = a.resolved_at ? Date.parse(a.resolved_at) - Date.parse(a.created_at) : NaN;
  const answered = a.state === "allowed" || a.state === "denied";
  const by = answered && a.by ? (BY[a.by] ?? a.by) : "";
  return [by && `by ${by}`, took >= 0 && `after ${duration(took)}`].filter(Boolean).join(" ");
}

const VERBS: Record<string, string> = {
  read: "read", write: "write to", create: "create", delete: "delete", chmod: "change the mode of", chown: "change the owner of", link: "link", run: "run", connect: "connect to", navigate: "open",
};

export const verb = (a: { operation?: string; kind?: string }): string => VERBS[a.operation ?? ""] ?? (a.kind === "execve" ? "run" : a.kind === "connect" ? "connect to" : (a.operation ?? "use"));

/** The name of a process's program, as the kernel knows it; "" where it does not. */
export const programName = (p: { exe?: string } | undefined): string => basename(p?.exe ?? "");

/** The name that a process gives itself in its command line, in which it can write what it likes. */
export const calledName = (p: { command?: string } | undefined): string => basename(p?.command?.trim().split(/\s/)[0] ?? "");

/** Who asks, in a sentence. */
export const askerWords = (p: { exe?: string; command?: string } | undefined): string =>
  programName(p) || (calledName(p) ? `a program that says it is ${calledName(p)}` : "a program");

/**
 * The process that asks, those that led to it from the first on, and what it says of itself:
 * its command line (whole), or the part of it that it was asked for, as a shell's command.
 */
export function chain(a: Approval): { parents: ApprovalProcess[]; asks: ApprovalProcess | undefined; claim: string; whole: string } {
  const [asks, ...parents] = a.processes ?? [];
  return { parents: parents.reverse(), asks, claim: asks?.short || asks?.command || "", whole: asks?.short ? asks.command : "" };
}

/** “git wants to write to ~/.gitconfig”, in pieces, as the path is hostile. */
export function wish(a: Approval): string {
  const who = askerWords(a.processes?.[0]);
  if (a.kind === "navigate") return "The browser wants to open";
  if (a.kind === "flood") return `${plural(a.calls, "call")} of ${a.run_id ? "this run" : "this program"} ${a.calls === 1 ? "waits" : "wait"}`;
  return `${programName(a.processes?.[0]) ? who : who.replace(/^a/, "A")} wants to ${verb(a)}`;
}

/** What a screen reader is told once when an approval came, or ended without the person. key: the one that goes to what waits, or "". */
export function announcement(a: Approval, channel: string, key: string): string {
  if (a.state === "waiting") return `${channel} waits for you: ${a.title}.${key ? ` ${key} goes there.` : ""}`;
  if (a.state === "allowed" || a.state === "denied" || a.state === "gathered") return "";
  return `${a.title}: ${stateWords(a)}`;
}

/** The part of an address that an answer is about, and what stands around it. */
export function addressParts(a: Pick<Approval, "target" | "site">): { before: string; site: string; after: string } {
  const start = a.target.indexOf("://") + 3;
  const end = a.target.slice(start).search(/[/?#]/);
  const authority = end < 0 ? a.target.slice(start) : a.target.slice(start, start + end);
  const host = authority.slice(authority.lastIndexOf("@") + 1).replace(/:\d*$/, "").replace(/\.$/, "").toLowerCase();
  const site = a.site ?? "";
  const bare = site.includes(":") ? `[${site}]` : site;
  if (start < 3 || !bare || !host.endsWith(bare)) return { before: a.target, site: "", after: "" };
  const at = start + authority.lastIndexOf("@") + 1 + host.length - bare.length;
  return { before: a.target.slice(0, at), site: a.target.slice(at, at + bare.length), after: a.target.slice(at + bare.length) };
}

// --- the gate itself ---

export type GateFace = { tone: "on" | "off" | "unknown" | "broken" | "record" | "shadow"; text: string };

const TONES: readonly GateFace["tone"][] = ["on", "off", "broken", "record", "shadow"];
const GATE_WORDS: Record<GateFace["tone"], string> = { on: "on", off: "off", unknown: "not known", broken: "broken", record: "only records", shadow: "only watches" };

/** The gate in the status bar. A state that this page does not know is no good one. */
export function gateFace(g: GateStatus | null): GateFace {
  const tone = TONES.find((t) => t === g?.state) ?? "unknown";
  const text = (g?.text ?? "").trim() || GATE_WORDS[tone];
  return { tone, text: /^gate\b/i.test(text) ? text : `Gate ${text}` };
}
