import { expect, it } from "vitest";
import { Front } from "./front";

const begin = () => {
  const front = new Front<string>();
  const said: string[] = [];
  const say = (what: string) => () => void said.push(what);
  return { front, said, say, settle: () => front.settle((to) => said.push(`back to ${to}`)) };
};

it("does at once what nothing stands in front of", () => {
  const { front, said, say } = begin();
  front.after(say("done"));
  expect(said).toEqual(["done"]);
});

it("gives the keyboard back before it does what was chosen", () => {
  const { front, said, say, settle } = begin();
  const menu = front.enter(false, "row");
  front.after(say("open the dialog"));
  front.leave(menu);
  expect([front.modal, front.busy, said]).toEqual([false, true, []]);
  settle();
  expect([front.busy, said]).toEqual([false, ["back to row", "open the dialog"]]);
});

it("waits for all of them", () => {
  const { front, said, say, settle } = begin();
  const under = front.enter(true, "prompt");
  const over = front.enter(true, "button of the first");
  front.after(say("focus the prompt"));
  front.leave(over);
  settle();
  expect([front.modal, said]).toEqual([true, ["back to button of the first"]]);
  front.leave(under);
  expect(front.modal).toBe(false);
  settle();
  expect(said.slice(1)).toEqual(["back to prompt", "focus the prompt"]);
});

it("lets one take the place of another, and goes back to where the first came from", () => {
  const { front, said, say, settle } = begin();
  const wait = front.enter(true, "prompt");
  front.leave(wait);
  const there = front.enter(true, "the one before");
  front.after(say("later"));
  front.leave(there);
  settle();
  expect(said).toEqual(["back to prompt", "later"]);
});

it("keeps what waits while something chosen opens the next", () => {
  const { front, said, say, settle } = begin();
  const menu = front.enter(false, "tab");
  let dialog = menu;
  front.after(() => (dialog = front.enter(true, "tab")));
  front.after(say("after the dialog"));
  front.leave(menu);
  settle();
  expect([front.modal, said]).toEqual([true, ["back to tab"]]);
  front.leave(dialog);
  settle();
  expect(said).toEqual(["back to tab", "back to tab", "after the dialog"]);
});
