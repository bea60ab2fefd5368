// Saving settings: each field by itself, and never over what somebody else saved meanwhile.
import { toFailure } from "../api/failure";
import type { ChannelID, SettingsField, SettingsView } from "../api/types";
import type { Scope } from "../model/settings-drafts";
import { fieldKey, saidIn, setFieldDraft, settingsDraftsStore } from "../model/settings-drafts";
import { read, shown } from "../model/settings";
import { loadChoice, saveChoice } from "../shell/memory";
import { session } from "./session";

/** A person types into a field. Text that is as it was is no draft. */
export function typeInto(f: SettingsField, scope: Scope, channel: ChannelID, text: string) {
  const key = fieldKey(scope, channel, f.name);
  const before = settingsDraftsStore.getState().fields[key];
  if (text === shown(f) && !before?.failure) setFieldDraft(key, null);
  else setFieldDraft(key, { text, was: before ? before.was : saidIn(f, scope), failure: null });
}

/** Saves what is typed into a field. On failure the text stays, with the reason at it. */
export async function saveField(f: SettingsField, scope: Scope, channel: ChannelID): Promise<SettingsView | null> {
  const key = fieldKey(scope, channel, f.name);
  const draft = settingsDraftsStore.getState().fields[key];
  if (!draft) return null;
  const r = read(f, draft.text);
  if ("wrong" in r) {
    setFieldDraft(key, { ...draft, failure: { code: "invalid_input", cause: r.wrong } });
    return null;
  }
  return change(f, scope, channel, draft.text, r.value, draft.was);
}

/** Takes a field out of a file. */
export const resetField = (f: SettingsField, scope: Scope, channel: ChannelID) => change(f, scope, channel, shown(f), null, saidIn(f, scope));

async function change(f: SettingsField, scope: Scope, channel: ChannelID, text: string, value: unknown, was: unknown): Promise<SettingsView | null> {
  const key = fieldKey(scope, channel, f.name);
  try {
    const view = await session().api.settings.change(scope, channel, f.name, value, was);
    if (settingsDraftsStore.getState().fields[key]?.text === text) setFieldDraft(key, null); // what was typed meanwhile stays
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

const TYPED = "models.typed";
const MOST = 12;

/** Names of models that the person typed before, the newest first. */
export const typedModels = (): string[] => loadChoice(TYPED).split("\n").filter(Boolean);

export function rememberModel(name: string) {
  if (name && !/\s/u.test(name)) saveChoice(TYPED, [name, ...typedModels().filter((m) => m !== name)].slice(0, MOST).join("\n"));
}
