// Tests the dock with kinds of panels that the page does not have. The dock, the palette,
// the keys and the memory must take everything from the kind's value.
import { renderToString } from "react-dom/server";
import { beforeEach, expect, it } from "vitest";
import { kept } from "../test/browser";
import { focusPanel, panelWhere, startLayout, TIMELINE } from "../model/dock/layout";
import type { PanelKind } from "./panels";

const { dockCommands } = await import("./commands");
const { goInto, openPanel, requestClose, split, toggleBroadcast, broadcast } = await import("./dock");
const { layoutOf, saveLayouts } = await import("./layouts");
const { allKinds, kindNamed, kindOf, quietFace, register } = await import("./panels");
const { Tab } = await import("./Tab");
const { dockUi, idleDock, layoutsStore } = await import("../model/dock/store");
const { viewStore } = await import("../model/stores");

const did: string[] = [];

const logLines: PanelKind<{ source: string }> = {
  kind: "log-lines", noun: "log",
  render: ({ panel }) => <pre>{`lines of ${panel.data.source}`}</pre>,
  face: ({ data }) => ({ ...quietFace, title: `Log of ${data.source}`, unread: true }),
  icon: () => <i className="log-icon" />,
  store: ({ source }) => (source ? { source } : undefined),
  load: ({ source }) => (typeof source === "string" ? { source } : undefined),
  key: (d) => d.source,
  keys: { place: "In a log", rows: () => [{ keys: "g", does: "Go to the newest line" }], press: (e) => e.key === "g" },
  opens: (_, group) => ["app", "guest"].map((source) => ({ id: source, name: `Open: log of ${source}`, icon: null, run: () => openPanel({ kind: "log-lines", data: { source } }, group) })),
  acts: ({ data }) => [{ id: "copy", name: "Copy the log", icon: null, run: () => did.push(`copy ${data.source}`) }],
  focus: ({ data }) => void did.push(`focus ${data.source}`),
  type: ({ data }, typed) => void did.push(`${data.source} got ${String(typed)}`),
  beside: (p) => ({ kind: "log-lines", data: { source: `${p?.data.source ?? "nothing"} too` } }),
};
register([{ kind: TIMELINE, noun: "timeline", render: () => null, face: () => quietFace, icon: () => null, focus: () => void did.push("focus timeline") }, logLines]);

const CHANNEL = "c0ffee";
const here = () => layoutOf(CHANNEL);
const shown = () => Object.values(here().panels).filter((p) => p.kind === "log-lines").map((p) => (p.data as { source: string }).source);
const command = (name: string) => dockCommands(CHANNEL).find((c) => c.name === name);

beforeEach(() => {
  kept.clear();
  layoutsStore.setState({ [CHANNEL]: startLayout() }, true);
  viewStore.setState({ selected: CHANNEL, toast: null });
  dockUi.setState(idleDock);
  did.length = 0;
});

it("is opened from the palette, beside the timeline, and has the keyboard", () => {
  command("Open: log of app")?.run();
  expect(shown()).toEqual(["app"]);
  expect(here().root.kind).toBe("split");
  expect(did).toEqual(["focus app"]);
  // A panel that shows the same gets the keyboard. Another opens in the group of its kind.
  goInto(TIMELINE);
  command("Open: log of app")?.run();
  goInto(TIMELINE);
  command("Open: log of guest")?.run();
  expect(shown()).toEqual(["app", "guest"]);
  expect(did).toEqual(["focus app", "focus timeline", "focus app", "focus timeline", "focus guest"]);
});

it("has its title, icon and marks in a tab, and its body", () => {
  openPanel({ kind: "log-lines", data: { source: "app" } });
  const panel = here().panels[focusPanel(here())];
  if (!panel) throw new Error("no panel");
  const html = renderToString(<Tab channelId={CHANNEL} panel={panel} active={false} front onKeyDown={() => undefined} />);
  expect(html).toContain("Log of app");
  expect(html).toContain("log-icon");
  expect(html).toContain("new output");
  expect(html).not.toContain("This computer");
  expect(html).not.toContain("F2"); // the panel cannot be renamed
  expect(renderToString(kindOf(panel).render({ channelId: CHANNEL, panel }))).toBe("<pre>lines of app</pre>");
});

it("offers what can be done with it, and to close it", () => {
  openPanel({ kind: "log-lines", data: { source: "app" } });
  command("Copy the log")?.run();
  expect(did).toContain("copy app");
  command("Close the log")?.run();
  expect(shown()).toEqual([]);
  expect(did.at(-1)).toBe("focus timeline");
  requestClose(TIMELINE);
  expect(Object.keys(here().panels)).toEqual([TIMELINE]);
});

it("asks before it closes, where its kind does", () => {
  const asks = { ...logLines, kind: "asking", close: () => void did.push("asked") };
  register([asks]);
  openPanel({ kind: "asking", data: { source: "app" } });
  requestClose();
  expect(did).toContain("asked");
  expect(panelWhere(here(), (p) => p.kind === "asking")).not.toBe("");
});

it("is stored and restored with the layout", () => {
  openPanel({ kind: "log-lines", data: { source: "app" } });
  openPanel({ kind: "log-lines", data: { source: "" } }); // this kind keeps nothing
  saveLayouts();
  layoutsStore.setState({}, true);
  expect(shown()).toEqual(["app"]);
  expect(here().root.kind).toBe("split");
});

it("is split, typed into and found by its keys", () => {
  openPanel({ kind: "log-lines", data: { source: "app" } });
  split("down");
  expect(shown()).toEqual(["app", "app too"]);
  goInto(TIMELINE);
  split("right"); // the timeline itself offers no panel
  expect(shown()).toEqual(["app", "app too", "nothing too"]);
  toggleBroadcast();
  broadcast(focusPanel(here()), "ls");
  expect(did.filter((d) => d.includes("got"))).toEqual(["app got ls", "app too got ls"]);
  expect(allKinds().some((k) => k.keys?.press?.({ key: "g" } as KeyboardEvent))).toBe(true);
  expect(allKinds().flatMap((k) => k.keys?.rows() ?? [])).toEqual(expect.arrayContaining([{ keys: "g", does: "Go to the newest line" }]));
});

it("has a name of its own", () => {
  expect(() => register([logLines])).toThrow("log-lines");
  expect(kindNamed("holodeck")).toBeUndefined();
});
