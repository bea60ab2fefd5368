// Saving settings: each field by itself, and never over what somebody else saved meanwhile.
import { toFailure } from "../api/failure";
import type { ChannelID, RawSettings, SettingsField, SettingsView } from "../api/types";
import type { Scope } from "../model/settings-drafts";
import { draftPlace, fieldKey, saidIn, setFieldDraft, setRawDraft, settingsDraftsStore } from "../model/settings-drafts";
import { read, shown } from "../model/settings";
import { loadChoice, saveChoice } from "../shell/memory";
import { session } from "./session";

/** A person types into a field. Text that is as it was is no draft, unless another one is being saved. */
export function typeInto(f: SettingsField, scope: Scope, channel: ChannelID, text: string) {
  const key = fieldKey(scope, channel, f.name);
  const before = settingsDraftsStore.getState().fields[key];
  if (text === shown(f) && !before?.failure && !before?.sent) setFieldDraft(key, null);
  else setFieldDraft(key, { ...before, text, was: before ? before.was : saidIn(f, scope), failure: null });
}

const saving = new Map<string, Promise<unknown>>();

/** Saves what is typed into a field, after what is being saved of it. On failure the text stays, with the reason at it. */
export async function saveField(f: SettingsField, scope: Scope, channel: ChannelID): Promise<SettingsView | null> {
  const key = fieldKey(scope, channel, f.name);
  const before = saving.get(key);
  const mine = before ? before.then(() => saveNow(f, scope, channel)) : saveNow(f, scope, channel);
  saving.set(key, mine);
  try {
    return await mine;
  } finally {
    if (saving.get(key) === mine) saving.delete(key);
  }
}

async function saveNow(f: SettingsField, scope: Scope, channel: ChannelID): Promise<SettingsView | null> {
  const key = fieldKey(scope, channel, f.name);
  const draft = settingsDraftsStore.getState().fields[key];
  if (!draft) return null;
  const r = read(f, draft.text);
  if ("wrong" in r) {
    setFieldDraft(key, { ...draft, failure: { code: "invalid_input", cause: r.wrong } });
    return null;
  }
  setFieldDraft(key, { ...draft, sent: { value: r.value } });
  return change(f, scope, channel, draft.text, r.value, draft.was);
}

/** Takes a field out of a file. */
export const resetField = (f: SettingsField, scope: Scope, channel: ChannelID) => change(f, scope, channel, shown(f), null, saidIn(f, scope));

async function change(f: SettingsField, scope: Scope, channel: ChannelID, text: string, value: unknown, was: unknown): Promise<SettingsView | null> {
  const key = fieldKey(scope, channel, f.name);
  try {
    const view = await session().api.settings.change(scope, channel, f.name, value, was);
    const draft = settingsDraftsStore.getState().fields[key];
    const now = view.fields?.find((x) => x.name === f.name);
    // What was typed meanwhile stays, and goes on from what was saved.
    if (draft) setFieldDraft(key, draft.text === text ? null : { text: draft.text, was: now ? saidIn(now, scope) : value, failure: null });
    if (f.name === "claude_model" && typeof value === "string") rememberModel(value);
    return view;
  } catch (err) {
    setFieldDraft(key, { text: settingsDraftsStore.getState().fields[key]?.text ?? text, was, failure: toFailure(err) });
    return null;
  }
}

/** The person has seen what is in the file by now, and goes on with their own text. */
export function rebase(f: SettingsField, scope: Scope, channel: ChannelID) {
  const key = fieldKey(scope, channel, f.name);
  const draft = settingsDraftsStore.getState().fields[key];
  if (draft) setFieldDraft(key, { text: draft.text, was: saidIn(f, scope), failure: null });
}

/** Gives a file the text of a revision. The settings that it returns are the channel's: a revision of the global file is of none. */
export async function restoreRevision(id: string, channel: ChannelID): Promise<SettingsView> {
  const { settings } = session().api;
  await settings.restore(id);
  return settings.get(channel);
}

/** Saves the whole text of a file. What was typed meanwhile stays: it goes on from what was saved, or has the reason why that was not. */
export async function saveRaw(scope: Scope, channel: ChannelID, base: RawSettings): Promise<{ view: SettingsView; raw: RawSettings } | null> {
  const place = draftPlace(scope, channel);
  const { settings } = session().api;
  const now = () => settingsDraftsStore.getState().raw[place];
  const draft = now();
  if (!draft || draft.sent !== undefined) return null;
  const { text } = draft;
  setRawDraft(place, { ...draft, failure: null, sent: text });
  try {
    const view = await settings.setRaw(scope, channel, text, base.sha256);
    // Without an answer the panel, which reads the file as well, says why.
    const raw = await settings.raw(scope, channel).catch(() => null) ?? { ...base, text };
    const rest = now();
    if (rest) setRawDraft(place, rest.text === text ? null : { text: rest.text, base: raw.text === text ? raw : { ...base, text }, failure: null });
    return { view, raw };
  } catch (err) {
    const rest = now();
    if (rest) setRawDraft(place, { text: rest.text, base: rest.base, failure: toFailure(err) });
    return null;
  }
}

const TYPED = "models.typed";
const MOST = 12;

/** Names of models that the person typed before, the newest first. */
export const typedModels = (): string[] => loadChoice(TYPED).split("\n").filter(Boolean);

export function rememberModel(name: string) {
  if (name && !/\s/u.test(name)) saveChoice(TYPED, [name, ...typedModels().filter((m) => m !== name)].slice(0, MOST).join("\n"));
}
