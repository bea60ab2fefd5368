import { expect, it, vi } from "vitest";
import { endsWait } from "./useNextKey";

class Part {
  constructor(private readonly within: string[]) {}
  closest(selector: string) {
    return this.within.includes(selector) ? this : null;
  }
}

it("ends by a press of the mouse, but for one on the button that waits: its click ends it", () => {
  vi.stubGlobal("Element", Part);
  const at = (...within: string[]) => new Part(within) as unknown as EventTarget;
  expect([at("[data-waits]"), at(), null].map(endsWait)).toEqual([false, true, true]);
});
