import "../test/browser";
import { beforeEach, describe, expect, it } from "vitest";
import type { Layout } from "../model/dock/layout";
import { focusPanel, groups, startLayout, TIMELINE } from "../model/dock/layout";
import { dockUi, idleDock, layoutsStore } from "../model/dock/store";
import { viewStore } from "../model/stores";
import { broadcastTargets, closePane, evenOut, goInto, leaveDock, moveTab, openPanel, panelByNumber, replacePanel, revealTimeline, runDockKey, split, stepTab, stretch, toggleBroadcast } from "./dock";
import { layoutOf } from "./layouts";
import type { PanelKind } from "./panels";
import { quietFace, register } from "./panels";

const did: string[] = [];
const pane: PanelKind<string> = {
  kind: "pane", noun: "pane", render: () => null, icon: () => null, face: () => quietFace, store: (data) => ({ data }), load: (k) => String(k.data),
  focus: ({ data }) => void did.push(data), beside: () => ({ kind: "pane", data: `new${did.length}` }), type: () => undefined,
};
register([{ ...pane, kind: TIMELINE, focus: () => void did.push(TIMELINE), type: undefined, beside: undefined } as never, pane]);

const here = (): Layout => layoutOf("ch");
const data = (id: string) => (id === TIMELINE ? TIMELINE : String(here().panels[id]?.data));
/** The tabs of each group, in reading order. */
const tabs = () => groups(here().root).map((g) => g.panels.map(data));
const front = () => data(focusPanel(here()));
const key = (k: Parameters<typeof runDockKey>[0]) => runDockKey(k);
const said = () => dockUi.getState().said;
const toast = () => viewStore.getState().toast?.text;

/** Has the timeline on the left, a on the upper right, b and c as tabs below it. */
function four() {
  openPanel({ kind: "pane", data: "a" });
  const a = focusPanel(here());
  replacePanel(a, { kind: "pane", data: "a" });
  split("down");
  replacePanel(focusPanel(here()), { kind: "pane", data: "b" });
  openPanel({ kind: "pane", data: "c" });
  did.length = 0;
}

beforeEach(() => {
  layoutsStore.setState({ ch: startLayout() }, true);
  viewStore.setState({ selected: "ch", toast: null });
  dockUi.setState(idleDock);
  did.length = 0;
});

describe("opening", () => {
  it("beside the timeline first, then with its like, then behind the tab in front", () => {
    openPanel({ kind: "pane", data: "a" });
    goInto(TIMELINE);
    openPanel({ kind: "pane", data: "b" });
    openPanel({ kind: "pane", data: "c" }, groups(here().root)[0]?.id);
    expect(tabs()).toEqual([[TIMELINE, "c"], ["a", "b"]]);
    expect(did).toEqual(["a", TIMELINE, "b", "c"]);
  });
  it("nowhere on the page of welcome", () => {
    viewStore.setState({ selected: "" });
    openPanel({ kind: "pane", data: "a" });
    expect(layoutsStore.getState()).toEqual({ ch: startLayout() });
  });
});

describe("keys", () => {
  it("go to the pane on that side; where there is none, nowhere", () => {
    four();
    key({ do: "focus", side: "up" });
    key({ do: "focus", side: "left" });
    key({ do: "focus", side: "left" });
    key({ do: "focus", side: "right" });
    expect(did).toEqual(["a", TIMELINE, "a"]);
    key({ do: "zoom" });
    expect(key({ do: "focus", side: "left" })).toBe(true); // the key is taken, but does nothing
    expect(front()).toBe("a");
  });
  it("go through the tabs of a group, round and round, and leave the key where there is one tab", () => {
    four();
    const seen = [1, 1, -1].map((by) => key({ do: "tab", step: by as 1 | -1 }) && front());
    expect(seen).toEqual(["b", "c", "b"]);
    goInto(TIMELINE);
    expect(key({ do: "tab", step: 1 })).toBe(false);
    stepTab(1);
    expect(front()).toBe(TIMELINE);
  });
  it("count tabs through all groups; nine is the last", () => {
    four();
    expect([1, 2, 3, 4, 5, 9].map((n) => panelByNumber(here(), n)?.data ?? null)).toEqual([null, "a", "b", "c", null, "c"]);
    expect([key({ do: "number", n: 2 }), front(), key({ do: "number", n: 7 })]).toEqual([true, "a", false]);
  });
  it("show a pane alone and all again, and say so", () => {
    four();
    key({ do: "zoom" });
    expect([here().zoom, said()]).toEqual([here().focus, "The pane is shown alone."]);
    key({ do: "zoom" });
    expect([here().zoom, said(), did]).toEqual(["", "All panes are shown.", ["c", "c"]]);
  });
  it("arrange where there is something to arrange", () => {
    key({ do: "arrange" });
    expect([dockUi.getState().arranging, toast()]).toEqual([false, "There is only one panel. Split it first."]);
    four();
    key({ do: "arrange" });
    expect(dockUi.getState().arranging).toBe(true);
  });
});

describe("moving and sizes", () => {
  it("goes into the group on that side, else into one of its own there", () => {
    four();
    moveTab("up");
    expect(tabs()).toEqual([[TIMELINE], ["a", "c"], ["b"]]);
    moveTab("up");
    expect(tabs()).toEqual([[TIMELINE], ["c"], ["a"], ["b"]]);
  });
  it("stretches by arrows and says the size, and makes all even again", () => {
    four();
    stretch("left");
    expect(said()).toMatch(/^5[34] % wide, 50 % high$/);
    evenOut();
    stretch("up");
    expect(said()).toMatch(/^50 % wide, 54 % high$/);
  });
});

describe("closing", () => {
  it("gives the keyboard to what is nearest, and takes it from nobody else", () => {
    four();
    closePane(focusPanel(here()));
    expect(did).toEqual(["b"]);
    goInto(TIMELINE);
    did.length = 0;
    closePane(groups(here().root)[1]?.active ?? "");
    expect([tabs(), did]).toEqual([[[TIMELINE], ["b"]], []]);
  });
});

describe("typing into all", () => {
  it("needs two that are seen, and reaches no tab behind another", () => {
    openPanel({ kind: "pane", data: "a" });
    toggleBroadcast();
    expect([dockUi.getState().broadcast, toast()]).toEqual([false, "There is only one terminal to type into. Split it first."]);
    four();
    expect(broadcastTargets().map(data)).not.toContain("b");
    toggleBroadcast();
    expect([dockUi.getState().broadcast, said()]).toEqual([true, "Typing goes to all visible terminals."]);
    toggleBroadcast();
    expect(said()).toBe("Typing goes to one terminal.");
  });
});

it("the timeline is brought to the front without the keyboard", () => {
  openPanel({ kind: "pane", data: "a" }, "g0");
  did.length = 0;
  revealTimeline();
  expect([front(), did]).toEqual([TIMELINE, []]);
});

it("another channel begins with nothing of the last one's", () => {
  dockUi.setState({ broadcast: true, closing: "p1", renaming: "p2", arranging: true });
  leaveDock();
  expect(dockUi.getState()).toEqual(idleDock);
});
