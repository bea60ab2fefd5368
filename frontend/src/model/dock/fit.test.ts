import { describe, expect, it } from "vitest";
import type { TabSize } from "./fit";
import { fit, unseen } from "./fit";

const TOOLS = 46;
const tab = (name = 60, words = 0, marks = 0): TabSize => ({ name, words, marks, closes: true });
const host = tab(40, 90);
const forms = (width: number, tabs: TabSize[], active = 0) => fit(width, tabs, active, TOOLS);

describe("a strip of tabs", () => {
  it("shows all there is where there is room, the path only in plenty of it", () => {
    expect(forms(1200, [tab(), host])).toEqual({ form: "whole", list: false, plus: true, words: true, path: true });
    expect(forms(420, [tab(), host])).toMatchObject({ form: "whole", path: false });
  });
  it("gives up tags, then names, then has a list: in this order, each at one width", () => {
    const tabs = [host, tab(), tab(), tab()];
    const order: string[] = [];
    for (let w = 1200; w >= 100; w--) {
      const f = forms(w, tabs);
      const said = `${f.form}${f.list ? " list" : ""}`;
      if (order.at(-1) !== said) order.push(said);
    }
    expect(order).toEqual(["whole", "untagged", "icons", "icons list", "one list"]);
  });
  it("has the plus button in the menu where it is narrow", () => {
    expect([forms(320, [tab()]).plus, forms(319, [tab()]).plus]).toEqual([true, false]);
  });
  it("lists at twenty tabs and at 320 px, whichever is in front", () => {
    const many = Array.from({ length: 20 }, () => tab());
    for (const at of [0, 7, 19]) expect(forms(320, many, at)).toEqual({ form: "icons", list: true, plus: true, words: false, path: false });
    expect(forms(168, many)).toEqual({ form: "one", list: true, plus: false, words: false, path: false });
  });
  it("counts what is marked", () => {
    const width = 46 + 28 + 2 * (31 + 12 + 14 + 8 + 60);
    expect(forms(width, [tab(), tab()]).form).toBe("whole");
    expect(forms(width, [tab(), tab(60, 0, 1)]).form).toBe("untagged");
  });
  it("does without tabs and without room", () => {
    expect(forms(0, [])).toMatchObject({ form: "icons", list: true });
    expect(forms(600, [], -1)).toMatchObject({ form: "whole", list: false });
  });
  it("knows which cannot be seen", () => {
    const tabs = [0, 40, 80, 120].map((left) => ({ left, right: left + 40 }));
    expect([unseen(tabs, 0, 160), unseen(tabs, 0, 100), unseen(tabs, 20, 120), unseen(tabs, 300, 400)]).toEqual([0, 2, 2, 4]);
  });
});
