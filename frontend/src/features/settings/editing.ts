import type { SettingsView } from "../../api/types";

/** Which file a change goes to. */
export type Scope = "global" | "project" | "worktree";

/** What every panel needs: whose settings, which file a change goes to, and what came back. */
export type Editing = { view: SettingsView; scope: Scope; channel: string; onChange(view: SettingsView): void };
