// What Loop and the page say to each other. The types are Go's; here is only what
// the page makes of them.
import type { PromptRequest, TerminalSpec } from "./contract.gen";

export type * from "./contract.gen";

/** How a prompt is sent, besides its text. */
export type PromptOptions = Omit<PromptRequest, "client_id" | "channel_id" | "prompt">;

/** What a pane asks for when there is no session yet. */
export type TerminalCreate = Omit<TerminalSpec, "cols" | "rows">;
