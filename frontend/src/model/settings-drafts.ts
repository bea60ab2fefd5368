// What a person has typed into the settings and not saved. It outlives the dialog.
import { createStore } from "zustand/vanilla";
import type { ChannelID, Failure, RawSettings, SettingsField } from "../api/types";
import { safeJSON } from "../api/failure";

/** The file that a change goes to. */
export type Scope = "global" | "project" | "worktree";

/** was: the value that the file had when the person began; null for none. failure: why it could not be saved. sent: the value that is being saved. */
export type FieldDraft = { text: string; was: unknown; failure: Failure | null; sent?: { value: unknown } };

/** base: the file as the text began. sent: the text that is being saved. */
export type RawDraft = { text: string; base: RawSettings; failure: Failure | null; sent?: string };

type Drafts = { fields: Record<string, FieldDraft>; raw: Record<string, RawDraft> };

export const settingsDraftsStore = createStore<Drafts>(() => ({ fields: {}, raw: {} }));

/** A key that is typed and not saved, by its kind. It is nowhere but in this page. */
export const typedKeysStore = createStore<Record<string, string>>(() => ({}));

/** The place of a file. The global one is the same for every channel. */
export const draftPlace = (scope: Scope, channel: ChannelID) => (scope === "global" ? "global" : `${scope}/${channel}`);

export const fieldKey = (scope: Scope, channel: ChannelID, name: string) => `${draftPlace(scope, channel)}/${name}`;

export function setFieldDraft(key: string, draft: FieldDraft | null) {
  settingsDraftsStore.setState(({ fields }) => {
    const { [key]: _, ...rest } = fields;
    return { fields: draft ? { ...rest, [key]: draft } : rest };
  });
}

export function setRawDraft(place: string, draft: RawDraft | null) {
  settingsDraftsStore.setState(({ raw }) => {
    const { [place]: _, ...rest } = raw;
    return { raw: draft ? { ...rest, [place]: draft } : rest };
  });
}

/** The fields of a file that have a draft. */
export function draftedFields({ fields }: Drafts, scope: Scope, channel: ChannelID): Set<string> {
  const place = `${draftPlace(scope, channel)}/`;
  return new Set(Object.keys(fields).filter((k) => k.startsWith(place)).map((k) => k.slice(place.length)));
}

/** What the scope's file says of a field; null for nothing. */
export const saidIn = (f: SettingsField, scope: Scope): unknown => (f.layers ?? []).find((l) => l.layer === scope)?.value ?? null;

/** Whether somebody else has saved another value since the draft began. */
export const overtaken = (f: SettingsField, scope: Scope, draft: FieldDraft | undefined): boolean =>
  draft !== undefined && ![draft.was, ...(draft.sent ? [draft.sent.value] : [])].some((own) => safeJSON(own) === safeJSON(saidIn(f, scope)));

/** Whether somebody else has changed the file since the text began. */
export const rawOvertaken = (draft: RawDraft | undefined, now: RawSettings | null): boolean =>
  Boolean(draft && now && now.sha256 !== draft.base.sha256 && now.text !== draft.base.text && now.text !== draft.sent);

/** The draft of a file with another text, or null where that is what the file says. While a text is being saved, the file will say another one. */
export function rawTyped(draft: RawDraft | undefined, now: RawSettings, text: string): RawDraft | null {
  const base = draft?.base ?? now;
  if (text === base.text && draft?.sent === undefined && !rawOvertaken(draft, now)) return null;
  return { text, base, failure: null, ...(draft?.sent !== undefined && { sent: draft.sent }) };
}
