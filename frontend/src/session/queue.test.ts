import { kept } from "../test/browser";
import { beforeEach, expect, test, vi } from "vitest";
import type { Run } from "../api/types";
import { draftsStore, timelineOf, timelinesStore, viewStore } from "../model/stores";

const edit = vi.fn<() => Promise<unknown>>();
const remove = vi.fn<() => Promise<unknown>>();
vi.mock("./session", () => ({ session: () => ({ api: { runs: { edit: () => edit(), remove: () => remove() } } }) }));

const { keepEdit, removeQueued, saveEdit } = await import("./queue");
const { draftOf, setDraft } = await import("./drafts");
const { texts } = await import("./questiondrafts");
const run = (id: string) => ({ run_id: id, channel_id: "a", prompt: "do it", state: "queued" }) as Run;
const waits = (...ids: string[]) => timelinesStore.setState({ a: { ...timelineOf({}, "a"), phase: "ready", queue: ids.map(run) } });
const draft = () => draftOf(draftsStore.getState(), "a");

beforeEach(() => {
  kept.clear();
  texts.clear();
  draftsStore.setState({}, true);
  viewStore.setState({ toast: null });
  waits("one", "two");
});

test("an unsaved change to a prompt that has left the queue goes into the box, before what is typed", () => {
  setDraft("a", "typed");
  texts.set("one", "do it well");
  keepEdit(run("one"));
  waits("one"); // the other one began
  expect(draft()).toBe("typed");
  waits();
  expect([draft(), texts.has("one"), viewStore.getState().toast?.text]).toEqual(["do it well\n\ntyped", false, expect.stringContaining("in the prompt box")]);
  waits("one");
  waits();
  expect(draft()).toBe("do it well\n\ntyped"); // once
});

test("a change that was left, or is none, goes nowhere", () => {
  texts.set("one", "do it");
  keepEdit(run("one"));
  keepEdit(run("two"));
  waits();
  texts.set("two", "more");
  keepEdit({ ...run("two") });
  expect(draft()).toBe("more"); // its editor went with its prompt
  setDraft("a", "");
  waits("one");
  texts.set("one", "well");
  keepEdit(run("one"));
  texts.delete("one"); // in another editor of it
  waits();
  expect(draft()).toBe("");
});

test("a change that is being saved is put into the box only where that fails", async () => {
  for (const [ok, want] of [[true, ""], [false, "well"]] as const) {
    waits("one");
    texts.set("one", "well");
    let answer: () => void = () => {};
    edit.mockReturnValueOnce(new Promise((done, no) => { answer = () => (ok ? done(null) : no(new Error("gone"))); }));
    const saved = saveEdit(run("one"), "well");
    waits();
    keepEdit(run("one"));
    expect(draft()).toBe("");
    answer();
    expect([await saved, draft()]).toEqual([ok, want]);
  }
});

test("a change to a prompt that the person removes goes with it, and stays where that fails", async () => {
  for (const [ok, want] of [[true, undefined], [false, "well"]] as const) {
    waits("one");
    texts.set("one", "well");
    keepEdit(run("one"));
    remove.mockImplementationOnce(async () => {
      if (!ok) throw new Error("gone");
      waits(); // told before the answer
    });
    await removeQueued("one");
    expect([texts.get("one"), draft()]).toEqual([want, ""]);
  }
});
