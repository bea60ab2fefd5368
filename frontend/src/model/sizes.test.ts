import { expect, it } from "vitest";
import { textScales } from "./sizes";

it("is as drawn at the sizes that the settings begin with, and without any", () => {
  const drawn = { sidebar: 1, chat: 1, editor: 1, panels: 1 };
  expect(textScales({ sidebar: 12, chat: 13, editor: 13, panels: 12 })).toEqual(drawn);
  for (const none of [undefined, {}, { chat: 0, sidebar: -3, editor: NaN, panels: "large" as never }]) expect(textScales(none)).toEqual(drawn);
});

it("grows and shrinks each part by itself, within what can be read", () => {
  expect(textScales({ sidebar: 18, chat: 26 })).toEqual({ sidebar: 1.5, chat: 2, editor: 1, panels: 1 });
  expect(textScales({ panels: 1000, editor: 1 })).toMatchObject({ panels: 40 / 12, editor: 8 / 13 });
});
