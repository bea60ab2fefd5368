import "../test/browser";
import { kept } from "../test/browser";
import { beforeEach, describe, expect, it } from "vitest";
import type { SettingsField } from "../api/types";
import { modelChoices } from "../model/models";
import { draftedFields, fieldKey, overtaken, settingsDraftsStore } from "../model/settings-drafts";
import { failure, pretendLoop } from "../test/loop";
import { rebase, rememberModel, resetField, saveField, typedModels, typeInto } from "./settings";
import { startSession } from "./session";

const field = (value: unknown, said: unknown = value) => ({ name: "container_memory_mb", kind: "integer", value, default: 2048, layers: said === null ? [] : [{ layer: "global", value: said, line: 1, in_force: true }] }) as unknown as SettingsField;
const KEY = fieldKey("global", "a", "container_memory_mb");
const draft = () => settingsDraftsStore.getState().fields[KEY];
const type = (f: SettingsField, text: string) => typeInto(f, "global", "a", text);

function loop(answer: (...args: never[]) => unknown) {
  const l = pretendLoop({ "Settings.Change": answer });
  startSession(l.bridge);
  return l;
}

beforeEach(() => settingsDraftsStore.setState({ fields: {}, raw: {} }));

describe("what is typed into a setting", () => {
  it("is a draft until it is as it was", () => {
    type(field(4096), "1");
    expect(draft()).toEqual({ text: "1", was: 4096, failure: null });
    expect([...draftedFields(settingsDraftsStore.getState(), "global", "b")]).toEqual(["container_memory_mb"]); // one file for all channels
    expect([...draftedFields(settingsDraftsStore.getState(), "project", "a")]).toEqual([]);
    type(field(4096), "4096");
    expect(draft()).toBeUndefined();
  });

  it("is saved with what the person saw, and gone then", async () => {
    const l = loop(() => ({ fields: [] }));
    type(field(4096), "1024");
    expect(await saveField(field(4096), "global", "a")).toEqual({ fields: [] });
    expect(l.calls.find((c) => c.name === "Settings.Change")?.args).toEqual(["global", "a", "container_memory_mb", 1024, 4096]);
    expect(draft()).toBeUndefined();
    expect(await saveField(field(4096), "global", "a")).toBeNull(); // there is nothing to save
  });

  it.each(["invalid_input", "conflict", "config", "disk_full", "offline"])("stays with the reason: %s", async (code) => {
    loop(() => { throw failure(code); });
    type(field(4096), "1024");
    expect(await saveField(field(4096), "global", "a")).toBeNull();
    expect(draft()).toMatchObject({ text: "1024", was: 4096, failure: { code } });
    type(field(4096), "1025"); // the reason was for the other text
    expect(draft()).toMatchObject({ text: "1025", was: 4096, failure: null });
  });

  it("is not sent where it cannot be a value", async () => {
    const l = loop(() => ({}));
    type(field(4096), "lots");
    await saveField(field(4096), "global", "a");
    expect(l.calls.filter((c) => c.name === "Settings.Change")).toEqual([]);
    expect(draft()?.failure?.cause).toBe("Type a whole number.");
  });

  it("stays where more is typed while it is saved", async () => {
    loop(() => { type(field(4096), "10245"); return { fields: [] }; });
    type(field(4096), "1024");
    await saveField(field(4096), "global", "a");
    expect(draft()?.text).toBe("10245");
  });

  it("is overtaken by another value, and goes on from that when the person says so", () => {
    type(field(4096), "1024");
    expect(overtaken(field(4096), "global", draft())).toBe(false);
    expect(overtaken(field(3000), "global", draft())).toBe(true);
    expect(overtaken(field(2048, null), "global", draft())).toBe(true); // it was taken out
    rebase(field(3000), "global", "a");
    expect(draft()).toEqual({ text: "1024", was: 3000, failure: null });
  });

  it("a reset that fails says why", async () => {
    loop(() => { throw failure("config", "The settings file could not be written."); });
    expect(await resetField(field(4096), "global", "a")).toBeNull();
    expect(draft()).toMatchObject({ text: "4096", failure: { cause: "The settings file could not be written." } });
  });
});

it("models that were typed come last, each once, and twelve at most", () => {
  kept.clear();
  for (const name of ["one", "two", "one", "opus", "two words", ...Array.from({ length: 12 }, (_, i) => `m${i}`)]) rememberModel(name);
  expect(typedModels()).toHaveLength(12);
  expect(typedModels()[0]).toBe("m11");
  const list = modelChoices(["own", "opus", "own"]);
  expect(list[0]?.name).toBe("opus");
  expect(list.filter((m) => m.says === "typed before").map((m) => m.name)).toEqual(["own"]);
});
