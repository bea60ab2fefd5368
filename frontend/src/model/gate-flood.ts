// A run that asks too much: one card stands for all of its calls, in groups that have answers
// of their own. Here is what is chosen, what keys mean, and the words.
import type { Approval, ApprovalGroup, GroupAnswer, GroupVerdict } from "../api/types";
import { elapsed, plural } from "./format";
import type { Key } from "./gate";
import { keyMeaning } from "./gate";

/** The answers that are chosen and not sent yet, by group. */
export type Chosen = Record<string, GroupVerdict>;

/** The answers that a group can have, in the order of their buttons. */
export const verdictsOf = (g: Pick<ApprovalGroup, "once_only">): GroupVerdict[] => (g.once_only ? ["deny", "once"] : ["deny", "run", "ask"]);

const WORDS: Record<GroupVerdict, string> = { deny: "Deny", once: "Allow once", run: "Allow in this run", ask: "One by one" };

export const verdictWords = (v: GroupVerdict, a: Pick<Approval, "run_id">): string => (v === "run" && !a.run_id ? "Allow in this program" : WORDS[v]);

export const groupsOf = (a: Pick<Approval, "groups">): ApprovalGroup[] => a.groups ?? [];

/** Chooses an answer, or takes it back where it is chosen already. What a group does not offer changes nothing. */
export function choose(c: Chosen, g: ApprovalGroup, v: GroupVerdict): Chosen {
  if (!verdictsOf(g).includes(v)) return c;
  const { [g.id]: was, ...rest } = c;
  return was === v ? rest : { ...rest, [g.id]: v };
}

/** The answers to send: those to groups that are still as they were when they were chosen. */
export function answersOf(groups: ApprovalGroup[], c: Chosen): GroupAnswer[] {
  return groups.flatMap((g) => {
    const verdict = c[g.id];
    return verdict ? [{ id: g.id, verdict }] : [];
  });
}

export type FloodKey = "deny-all" | "send" | "up" | "down" | "open" | "close" | "first" | "last" | { choose: GroupVerdict } | "nothing" | "";

/** What a key means in the card. Only Escape and the chord answer anything. */
export function floodKey(e: Key, once: boolean): FloodKey {
  const meaning = keyMeaning(e);
  if (meaning === "deny") return "deny-all";
  if (meaning === "allow") return "send";
  if (e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return meaning === "nothing" ? "nothing" : "";
  switch (e.key) {
    case "ArrowDown": return "down";
    case "ArrowUp": return "up";
    case "ArrowRight": return "open";
    case "ArrowLeft": return "close";
    case "Home": return "first";
    case "End": return "last";
    case "d": case "D": return { choose: "deny" };
    case "a": case "A": return { choose: once ? "once" : "run" };
    case "o": case "O": return { choose: "ask" };
    default: return meaning === "nothing" ? "nothing" : "";
  }
}

/** “This run is paused: it asked 23 times in 38 s” */
export function floodTitle(a: Approval): string {
  const times = groupsOf(a).flatMap((g) => [Date.parse(g.first), Date.parse(g.last)]).filter(Number.isFinite);
  const took = times.length > 0 ? Math.max(...times) - Math.min(...times) : 0;
  const within = took < 1000 ? "within a second" : `in ${elapsed(took)}`;
  return `${a.run_id ? "This run" : "This program"} is paused: it asked ${plural(a.calls, "time")} ${within}`;
}

/** How many calls the chosen answers are about. */
export const answered = (a: Approval, c: Chosen): number => groupsOf(a).reduce((n, g) => n + (c[g.id] ? g.calls : 0), 0);

/** What stays held when the chosen answers are sent, in a sentence. */
export function leftWords(a: Approval, c: Chosen): string {
  const groups = groupsOf(a);
  const open = groups.filter((g) => !c[g.id]).length;
  const left = a.calls - answered(a, c);
  if (groups.length > 0 && open === groups.length) return "Nothing is chosen yet. Choose for each group, then send.";
  if (left === 0) return "All groups have an answer. Then the run goes on.";
  const more = a.calls - groups.reduce((n, g) => n + g.calls, 0);
  if (open === 0) return `${plural(more, "more call")} in further groups ${more === 1 ? "stays" : "stay"} held.`;
  return `${open} of ${groups.length} groups ${open === 1 ? "has" : "have"} no answer yet; ${left === 1 ? "its call stays" : `their ${left} calls stay`} held.`;
}

/** How many acts of a group are shown at first. */
export const ITEMS_SHOWN = 3;

/** A group for a screen reader: what it is, and what is chosen. */
export function groupName(g: ApprovalGroup, verb: string, c: Chosen, a: Pick<Approval, "run_id">): string {
  const v = c[g.id];
  return `${plural(g.calls, "call")}: ${verb} ${g.target}${g.wide ?? ""}, ${v ? `chosen: ${verdictWords(v, a)}` : "no answer chosen"}`;
}
