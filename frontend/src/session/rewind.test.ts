import { kept } from "../test/browser";
import { beforeEach, expect, test, vi } from "vitest";
import { picturesStore } from "../model/pictures";
import { draftsStore, plansStore, viewStore } from "../model/stores";
import { NO_WISH, wishesStore } from "../model/wish";

const picture = (id: string) => ({ id, name: id, type: "image/png", bytes: 1, width: 1, height: 1 });
const back = vi.fn<(...args: unknown[]) => Promise<unknown>>(() => Promise.resolve({ id: "w", files: 1, notices: [], text: "Draw it", plan: true, model: "opus", effort: "high", attachments: [picture("one")] }));
vi.mock("./session", () => ({ session: () => ({ api: { rewind: { back } } }) }));

const { goBack } = await import("./rewind");
const { draftOf, planOf, setDraft, wishIn } = await import("./drafts");
const { picturesOf, setPictures } = await import("./pictures");
const req = (what: "both" | "files") => ({ what, keep: [], mark: "m", stop: false });
const box = () => [
  draftOf(draftsStore.getState(), "a"), planOf(plansStore.getState(), "a"), wishIn(wishesStore.getState(), "a"), picturesOf(picturesStore.getState(), "a").map((p) => p.id),
];

beforeEach(() => {
  kept.clear();
  for (const s of [draftsStore, plansStore, wishesStore, picturesStore]) s.setState({}, true);
  setPictures("a", []);
  viewStore.setState({ toast: null });
});

test("a prompt comes back to its box with what was chosen for it, once", async () => {
  setDraft("a", "and then");
  setPictures("a", [picture("two"), picture("one")]);
  await goBack("a", "r", req("both"));
  expect(box()).toEqual(["Draw it\n\nand then", true, { model: "opus", effort: "high", fresh: false }, ["one", "two"]]);
});

test("a prompt stays where only files go back", async () => {
  await goBack("a", "r", req("files"));
  expect(box()).toEqual(["", false, NO_WISH, []]);
});
