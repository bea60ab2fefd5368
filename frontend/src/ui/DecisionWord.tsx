import type { LucideIcon } from "lucide-react";
import { Check, ShieldQuestion, X } from "lucide-react";
import type { ReactNode } from "react";

const MARKS = { yes: Check, no: X, ask: ShieldQuestion };

type Props = { tone: "" | keyof typeof MARKS; mark?: boolean | LucideIcon; children: ReactNode };

/** What was or would be decided, in the colour of its tone; without a tone it is quiet. mark: before it stands the icon of the tone, or this one. */
export function DecisionWord({ tone, mark = false, children }: Props) {
  const Mark = mark === true ? tone && MARKS[tone] : mark;
  return <span className={`decision-word ${tone}`}>{Mark && <Mark size={13} aria-hidden />}<span>{children}</span></span>;
}
