import { kept } from "../test/browser";
import { beforeEach, expect, it } from "vitest";
import type { PromptOptions } from "../api/types";
import { draftsStore, plansStore, viewStore } from "../model/stores";
import { NO_WISH, wishesStore } from "../model/wish";
import { draftOf, planOf, setDraft, setPlan, setWish, takeBack, wishIn } from "./drafts";

const text = () => draftOf(draftsStore.getState(), "a");
const plan = (id = "a") => planOf(plansStore.getState(), id);
const letter = (options: PromptOptions) => ({ clientId: "c", channelId: "a", prompt: "do it", options, at: 1, state: "failed" as const, failure: null });
const reload = () => {
  draftsStore.setState({}, true);
  plansStore.setState({}, true);
  wishesStore.setState({}, true);
};

beforeEach(() => {
  kept.clear();
  reload();
  viewStore.setState({ toast: null });
});

it("“Plan first” stays with its text, per channel and over a reload", () => {
  setDraft("a", "half");
  setPlan("a", true);
  reload();
  expect([text(), plan(), plan("b")]).toEqual(["half", true, false]);
  setPlan("a", false);
  reload();
  expect(plan()).toBe(false);
});

it("an unsent prompt comes back as it was to be sent, or what is lost is said", () => {
  setDraft("a", "and then");
  takeBack(letter({ plan: true }));
  expect([text(), plan(), viewStore.getState().toast]).toEqual(["do it\n\nand then", true, null]);
  takeBack(letter({ delay_seconds: 1800 }));
  expect(plan()).toBe(true); // of what is in the box already
  expect(viewStore.getState().toast?.text).toContain("after 30 m.");
});

it("a prompt's own model, effort and conversation stay with its text, and come back with an unsent one", () => {
  const wish = (id = "a") => wishIn(wishesStore.getState(), id);
  setWish("a", { model: "opus" });
  setWish("a", { fresh: true });
  reload();
  expect([wish(), wish("b")]).toEqual([{ model: "opus", effort: "", fresh: true }, NO_WISH]);
  setWish("a", NO_WISH);
  reload();
  expect([wish(), kept.get("loop.wish.a")]).toEqual([NO_WISH, undefined]);
  takeBack(letter({ model: "haiku", effort: "max", session: { mode: "fresh" } }));
  expect(wish()).toEqual({ model: "haiku", effort: "max", fresh: true });
  takeBack(letter({}));
  expect(wish().model).toBe("haiku"); // of what is in the box already
});
