import type { SettingsView } from "../../api/types";

/** The file that a change goes to. */
export type Scope = "global" | "project" | "worktree";

/** The props of every panel: the settings, the file that a change goes to, the channel, and the callback for new settings. */
export type Editing = { view: SettingsView; scope: Scope; channel: string; onChange(view: SettingsView): void };
