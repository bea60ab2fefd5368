// The types of calls and events. They are generated from Go; this file only adds types
// that the page derives from them.
import type { PromptRequest, TerminalSpec } from "./contract.gen";

export type * from "./contract.gen";

/** The options of a prompt, besides its text. */
export type PromptOptions = Omit<PromptRequest, "client_id" | "channel_id" | "prompt">;

/** The session that a pane asks for when it has none yet. The pane's size is not in it. */
export type TerminalCreate = Omit<TerminalSpec, "cols" | "rows">;
