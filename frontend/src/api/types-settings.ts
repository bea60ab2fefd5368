// Settings, keys and approvals: the shapes of backend/bind/settings.go and credentials.go.
import type { ChannelID, CredentialKind, Failure } from "./types";

/** Where a key of a model is kept; never what it is. */
export type CredentialStatus = {
  kind: CredentialKind;
  set: boolean;
  where?: string; // config, keyring, file
  in_use: boolean;
  failure?: Failure | null;
  note?: string;
};

export type SettingsOrigin = { layer: string; path?: string; line?: number; col?: number };
export type SettingsEntry = { name: string; origin: SettingsOrigin };
export type SettingsLayer = { layer: string; value: unknown; line: number; in_force: boolean };
export type SettingsField = {
  name: string;
  kind: string; // text, integer, number, boolean, list, object
  value: unknown;
  default: unknown;
  doc: string;
  unit?: string;
  min?: string;
  max?: string;
  one_of?: string[];
  merge: string;
  project: string; // free, tighten, trust, never
  secret?: boolean;
  origin: SettingsOrigin;
  entries?: SettingsEntry[];
  layers: SettingsLayer[] | null;
};
export type SettingsProblem = { path: string; line: number; col: number; field: string; message: string; remedy: string; warning: boolean };
export type SettingsPending = { path: string; sha256: string; diff: string; fields: string[] | null };
export type SettingsView = {
  channel_id: string;
  path: string;
  project_path?: string;
  worktree_path?: string;
  fields: SettingsField[] | null;
  problems: SettingsProblem[] | null;
  pending: SettingsPending[] | null;
  approved: string[] | null;
};
export type RawSettings = { path: string; text: string; sha256: string };
export type SettingsRevision = { id: string; path: string; source: string; at: string; added: number; removed: number };
export type SettingsRevisionText = { id: string; text: string; diff: string };

/** A project's settings file that a run met unapproved. */
export type TrustRequested = { channel_id: ChannelID; path: string; sha256: string; fields: string[] | null };
