// What agents ask, and why prompts wait; types.ts passes them on.
import type { ChannelID, RunID } from "./types";

export type QuestionKind = "ask_user" | "exit_plan";
export type QuestionState = "open" | "answered" | "cancelled";
export type AskOption = { label: string; description?: string; preview?: string };
export type AskQuestion = { question: string; header?: string; options: AskOption[] | null; multiSelect?: boolean };
export type AnswerAction = "answer" | "approve" | "revise" | "cancel";
export type Answer = {
  action: AnswerAction;
  choices?: string[][];
  texts?: string[];
  text?: string;
  author_id?: string;
};
/** What an agent asked; also the payload of the four question events. */
export type Question = {
  question_id: string;
  channel_id: ChannelID;
  run_id: RunID;
  kind: QuestionKind;
  state: QuestionState;
  tool_use_id: string;
  questions?: AskQuestion[];
  plan?: string;
  planFilePath?: string;
  read_only?: boolean; // its run planned first and could change nothing
  demo?: boolean;
  created_at: string;
  resolved_at?: string;
  answer?: Answer;
};

export type WaitReason = "" | "question" | "plan" | "held" | "delayed" | "behind" | "run" | "limit";

/** Why a queued run has not begun; without a reason it is about to. */
export type Wait = { reason: WaitReason; question_id?: string; until?: string; ahead?: number };
