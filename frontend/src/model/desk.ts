// The desk: all channels as cards by state. What waits for the person stands in one queue.
import type { Approval, ApprovalScope, ChannelID, ChannelView, Question } from "../api/types";
import type { Choice, ShownChannel, Stop } from "./gate";
import { offersOf, scopeWords, sight } from "./gate";
import type { Seen } from "./seen";
import { isUnseen } from "./seen";

/** Something that waits for the person. deadline: when it is denied, Infinity if it waits for ever. image: they have yet to decide on the image that the project brings. With none of these they drive the channel's browser. */
export type Need = { id: string; channel: ChannelID; approval: Approval | null; question: Question | null; image?: boolean; deadline: number; since: number };

const time = (t: string | undefined): number => Date.parse(t ?? "") || 0;

/** The one queue: the nearest deadline first, then what has waited longest. */
export function needs(approvals: readonly Approval[], questions: readonly Question[], channels: readonly ChannelView[]): Need[] {
  const out: Need[] = [
    ...approvals.map((a): Need => ({ id: a.approval_id, channel: a.channel_id, approval: a, question: null, deadline: time(a.deadline) || Infinity, since: time(a.created_at) })),
    ...questions.map((q): Need => ({ id: q.question_id, channel: q.channel_id, approval: null, question: q, deadline: Infinity, since: time(q.created_at) })),
  ];
  for (const c of channels) if (c.undecided) out.push({ id: `image ${c.channel_id}`, channel: c.channel_id, approval: null, question: null, image: true, deadline: Infinity, since: time(c.running_since) });
  for (const c of channels) if (c.browser_held && !out.some((n) => n.channel === c.channel_id)) out.push({ id: `browser ${c.channel_id}`, channel: c.channel_id, approval: null, question: null, deadline: Infinity, since: time(c.running_since) });
  return out.sort((a, b) => (a.deadline === b.deadline ? a.since - b.since || a.id.localeCompare(b.id) : a.deadline - b.deadline));
}

/** Where F8 finds a need. */
export function stopOf(n: Need): Stop {
  const id = n.approval || n.question ? n.id : n.channel;
  return { id, channel: n.channel, approval: n.approval, ...(n.approval || n.question || n.image ? {} : { browser: true }) };
}

export type Group = { name: string; state: "done" | "working" | "queued" | "idle"; channels: ShownChannel[] };

/** All other channels, by what a person wants to know first. */
export function groups(channels: readonly ShownChannel[], waiting: readonly Need[], seen: Seen): Group[] {
  const rest = channels.filter((c) => !waiting.some((n) => n.channel === c.channel_id));
  const of = (pick: (c: ShownChannel) => boolean) => rest.filter(pick);
  const fresh = (c: ShownChannel) => isUnseen(c, seen);
  const all: Group[] = [
    { name: "Finished, not looked at", state: "done", channels: of(fresh).toSorted((a, b) => b.last_event_id - a.last_event_id) },
    { name: "Working", state: "working", channels: of((c) => c.state === "working" || c.state === "needs_you") },
    { name: "Queued", state: "queued", channels: of((c) => c.state === "queued") },
    { name: "Quiet", state: "idle", channels: of((c) => ["idle", "done", "failed"].includes(c.state) && !fresh(c)) },
  ];
  return all.filter((g) => g.channels.length > 0);
}

/** The project of a channel: it itself, or what it is a thread or worktree of. */
export function projectOf(channels: readonly ChannelView[], id: ChannelID): ChannelView | undefined {
  let c = channels.find((x) => x.channel_id === id);
  for (let n = 0; c?.parent_id && n < 5; n++) c = channels.find((x) => x.channel_id === c?.parent_id) ?? c;
  return c;
}

export type Answering = { name: string; choice: Choice };

/** The answers of a held call by their numbers. The first one denies. A flood is answered in its channel. */
export function answersOf(a: Approval): Answering[] {
  if (a.kind === "flood") return [];
  const allow = (scope: ApprovalScope): Answering => {
    const words = scope === "once" ? "Allow once" : scopeWords(scope, a);
    return { name: words.charAt(0).toUpperCase() + words.slice(1), choice: { allow: true, scope } };
  };
  const deny: Answering = { name: "Deny", choice: { allow: false, scope: "once" } };
  return [deny, allow("once"), ...offersOf(a).filter((o) => o.scope !== "once").map((o) => allow(o.scope))].slice(0, 9);
}

/** Whether a question can be answered on its card: one of a few options, without pictures of them. */
export const short = (q: Question): boolean => q.kind !== "exit_plan" && (q.questions?.length ?? 0) === 1 && (q.questions?.[0]?.options ?? []).length <= 9;

/** The first steps of a plan, and how many it has. A plan without a list is told by its lines. */
export function stepsOf(plan: string, most = 4): { steps: string[]; of: number } {
  const lines = plan.split("\n").map((l) => l.trim()).filter(Boolean);
  const listed = lines.filter((l) => /^(?:\d+[.)]|[-*])\s/.test(l)).map((l) => l.replace(/^(?:\d+[.)]|[-*])\s+(?:\[.\]\s*)?/, ""));
  const all = listed.length > 0 ? listed : lines.map((l) => l.replace(/^#+\s*/, ""));
  return { steps: all.slice(0, most).map((l) => (l.length > 160 ? `${l.slice(0, 160)}…` : l)), of: all.length };
}

/** What makes the queue another one to the eye: keys and clicks wait a moment after that. */
export const deskSight = (all: readonly Need[]): string => all.map((n) => (n.approval ? sight(n.approval) : n.id)).join("\n");

export type DeskKey = { act: "number"; n: number } | { act: "give" | "open" | "next" | "previous" | "first" | "last" | "review" | "seen" | "stop" | "back" } | null;

type Press = { key: string; mod: boolean; ctrlKey: boolean; metaKey: boolean; altKey: boolean; shiftKey: boolean; repeat: boolean };

/** What a key means on the desk. action: the one of the table of keys that it is. choosing: arrows move between options, as on a radio button. A number only chooses, and a held key does nothing. */
export function deskKey(e: Press, typing: boolean, action: string, choosing = false): DeskKey {
  if (choosing && e.key.startsWith("Arrow")) return null;
  if (e.key === "Enter" && e.mod && !e.altKey && !e.shiftKey) return e.repeat ? null : { act: "give" };
  const plain = !e.ctrlKey && !e.metaKey && !e.altKey && !e.shiftKey;
  if (!plain && !action) return null;
  if (e.key === "Escape" && plain) return { act: "back" };
  if (typing) return null;
  if (plain && /^[1-9]$/.test(e.key)) return e.repeat ? null : { act: "number", n: Number(e.key) };
  const acts: Record<string, "open" | "next" | "previous" | "first" | "last" | "review" | "seen" | "stop"> = {
    Enter: "open", "desk.next": "next", ArrowDown: "next", "desk.previous": "previous", ArrowUp: "previous", Home: "first", End: "last", "desk.review": "review", "desk.seen": "seen", "desk.stop": "stop",
  };
  const act = acts[action || e.key];
  return act && !(e.repeat && (act === "open" || act === "review" || act === "stop" || act === "seen")) ? { act } : null;
}

/** The card that is framed: the wanted one, or if it is gone the one in its place. */
export function framed(keys: readonly string[], at: string, place: number): string {
  if (keys.includes(at)) return at;
  return keys[Math.min(place, keys.length - 1)] ?? "";
}

const TWICE_MS = 250;

/** Whether two presses of a key are one double press. */
export const isTwice = (before: number, now: number): boolean => before > 0 && now - before <= TWICE_MS;
