import "../test/browser";
import { kept } from "../test/browser";
import { beforeEach, describe, expect, it } from "vitest";
import type { RawSettings, SettingsField } from "../api/types";
import { modelChoices } from "../model/models";
import { draftedFields, fieldKey, overtaken, rawOvertaken, rawTyped, setRawDraft, settingsDraftsStore } from "../model/settings-drafts";
import { failure, pretendLoop } from "../test/loop";
import { rebase, rememberModel, resetField, restoreRevision, saveField, saveRaw, typedModels, typeInto } from "./settings";
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

  it("goes on from what was saved, where more was typed meanwhile", async () => {
    const saved = field(1024);
    loop(() => {
      type(field(4096), "10245");
      expect(overtaken(saved, "global", draft()), "one's own value").toBe(false);
      expect(overtaken(field(7), "global", draft()), "somebody else's").toBe(true);
      return { fields: [saved] };
    });
    type(field(4096), "1024");
    await saveField(field(4096), "global", "a");
    expect(draft()).toEqual({ text: "10245", was: 1024, failure: null });
    expect(overtaken(saved, "global", draft())).toBe(false);
  });

  it("is saved twice by two quick choices, the second over the first", async () => {
    const choices: string[] = ["1024", "4096"];
    let file: unknown = 4096;
    const l = loop((...[, , , value, was]: unknown[]) => {
      if (was !== file) throw failure("conflict");
      file = value;
      return { fields: [field(value)] };
    });
    const saves = choices.map((text) => { type(field(4096), text); return saveField(field(4096), "global", "a"); });
    await Promise.all(saves);
    expect(l.called("Settings.Change").map((args) => args.slice(3))).toEqual([[1024, 4096], [4096, 1024]]);
    expect([draft(), file]).toEqual([undefined, 4096]);
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

describe("the text of a file", () => {
  const raw = (text: string, sha256: string) => ({ text, sha256, path: "/c" }) as unknown as RawSettings;
  const text = () => settingsDraftsStore.getState().raw.global;
  const write = (now: RawSettings, next: string) => setRawDraft("global", rawTyped(text(), now, next));
  const file = (answers: Record<string, (...args: never[]) => unknown>) => { const l = pretendLoop(answers); startSession(l.bridge); return l; };

  it("stays with what was typed meanwhile, and the reason, where it could not be saved", async () => {
    file({ "Settings.SetRaw": () => { write(raw("a", "1"), "abc"); throw failure("config"); } });
    write(raw("a", "1"), "ab");
    expect(await saveRaw("global", "", raw("a", "1"))).toBeNull();
    expect(text()).toMatchObject({ text: "abc", base: { sha256: "1" }, failure: { code: "config" } });
    expect(text()).not.toHaveProperty("sent");
  });

  it("goes on from what was saved", async () => {
    const l = file({
      "Settings.SetRaw": () => {
        write(raw("a", "1"), "a"); // as it was, while another text goes to the file
        expect(rawOvertaken(text(), raw("ab", "2")), "one's own").toBe(false);
        expect(rawOvertaken(text(), raw("x", "3")), "somebody else's").toBe(true);
        return { fields: [] };
      },
      "Settings.Raw": () => raw("ab", "2"),
    });
    write(raw("a", "1"), "ab");
    const first = saveRaw("global", "", raw("a", "1"));
    expect(await saveRaw("global", "", raw("a", "1")), "only one at a time").toBeNull();
    expect(await first).toEqual({ view: { fields: [] }, raw: raw("ab", "2") });
    expect(text()).toEqual({ text: "a", base: raw("ab", "2"), failure: null });
    expect(l.called("Settings.SetRaw")).toEqual([["global", "", "ab", "1"]]);
  });

  it("is no draft once it is saved, or as it was", async () => {
    file({ "Settings.SetRaw": () => ({ fields: [] }) }); // and the file cannot be read
    write(raw("a", "1"), "ab");
    expect((await saveRaw("global", "", raw("a", "1")))?.raw.text).toBe("ab");
    expect(text()).toBeUndefined();
    write(raw("a", "1"), "ab");
    write(raw("a", "1"), "a");
    expect(text()).toBeUndefined();
  });
});

it("shows the channel's settings after a revision was restored, of whatever file that was", async () => {
  const view = (channel_id: string) => ({ channel_id, fields: [], pending: channel_id === "a" ? [{ path: "/a" }] : [] });
  const l = pretendLoop({ "Settings.Restore": () => view(""), "Settings.Get": view });
  startSession(l.bridge);
  expect((await restoreRevision("7", "a")).pending).toHaveLength(1);
  expect([l.called("Settings.Restore"), l.called("Settings.Get")]).toEqual([[["7"]], [["a"]]]);
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
