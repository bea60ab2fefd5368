// Answers that were remembered: the rule that one has written, where, and how it is undone.
import type { Approval, ApprovalScope, GateRuleList, GateRuleOrigin, LoopEvent } from "../api/types";
import { elideMiddle, visibleLine } from "./gate-text";

const ORIGINS: Partial<Record<ApprovalScope, GateRuleOrigin>> = { project: "remembered", always: "yours" };
const TEXT_MAX = 160; // characters; about three lines of a message
const SAME_MS = 30_000; // the rule is written a moment before the question is told to be over

/** The answer of an event that has written a rule, or null. */
export function rememberedBy(ev: LoopEvent): Approval | null {
  if (ev.type !== "gate.resolved") return null;
  const a = ev.data as Approval | undefined;
  return a && (a.state === "allowed" || a.state === "denied") && ORIGINS[a.scope ?? "once"] ? a : null;
}

/** What is said of the rule that an answer has written. null: the last change of the rules is another one. */
export function rememberedWords(list: GateRuleList, a: Approval): { text: string; undo: string } | null {
  const { undo } = list;
  if (!undo || undo.scope !== a.scope || Math.abs(Date.parse(undo.at) - Date.parse(a.resolved_at ?? "")) > SAME_MS) return null;
  const origin = ORIGINS[a.scope ?? "once"];
  const path = list.files?.find((f) => f.origin === origin)?.path ?? list.rules?.find((r) => r.origin === origin)?.path ?? "";
  return { text: `${elideMiddle(visibleLine(undo.text), TEXT_MAX)}. ${path ? `It is in ${visibleLine(path)}.` : ""}`.trim(), undo: undo.id };
}
