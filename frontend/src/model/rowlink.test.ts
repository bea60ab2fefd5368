import { expect, it } from "vitest";
import { linked, linkTo, parseRowLink, rowLink } from "./rowlink";
import type { Item } from "./timeline/items";

const items = [
  { kind: "prompt", key: "e5", at: 10, runId: "r" }, { kind: "text", key: "r/m/text/0", at: 12, runId: "r" }, { kind: "end", key: "e9", at: 20, runId: "r" },
] as unknown as Item[];

it("leads to the item that it was made of", () => {
  for (const item of items) {
    const l = parseRowLink(rowLink("http://127.0.0.1:8080/", linkTo(items, item, "c")));
    expect(l && linked(items, l)).toBe(item);
  }
  expect(linkTo(items, items[1] as Item, "c")).toEqual({ channel: "c", run: "r", event: 5, at: 12 });
});

it("is of this computer, or nothing", () => {
  for (const t of ["", "#item=1", "https://evil.example/#item=1&at=2&channel=c", "#item=x&at=2&channel=c", "#item=1&at=2&channel=c&run=../x", "javascript:#item=1&at=2&channel=c"]) expect(parseRowLink(t), t).toBeNull();
  expect(parseRowLink(" #item=1&at=2&channel=c ")).toEqual({ channel: "c", run: "", event: 1, at: 2 });
});
