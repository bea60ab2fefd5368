import type { ChannelID, SettingsView } from "../../api/types";
import type { Scope } from "../../model/settings-drafts";

export const SCOPES: Record<Scope, string> = { global: "All projects", project: "This project", worktree: "This worktree" };

/** What a part of the settings changes: the values, the file that changes go to, and who is told of them. */
export type Editing = { view: SettingsView; scope: Scope; channel: ChannelID; onChange(view: SettingsView): void };
