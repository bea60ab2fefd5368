import { describe, expect, it } from "vitest";
import type { TerminalInfo } from "../../api/types";
import type { TerminalData } from "../terminals/panel";
import { terminalCodec } from "../terminals/panel";
import { applyTerminalEvents, fromList, noSessions, removedSessions, sessionsOf } from "../terminals/sessions";
import * as c from "./change";
import { keymapOf } from "../keys/keymap";
import { dockKey } from "./keys";
import type { Layout, Side } from "./layout";
import { groupOf, groups, MAX_GROUPS, normal, panelWhere, shownPanels, startLayout, TIMELINE } from "./layout";
import { dropSide, neighbour, place } from "./place";
import type { Steps } from "./stored";
import * as stored from "./stored";

const id = (n: number) => n.toString(16).padStart(32, "0");
const term = (n: number) => ({ kind: "terminal", data: { session: id(n), target: "agent" } satisfies TerminalData });
const codecs = (kind: string) => (kind === "terminal" ? terminalCodec : undefined);
const store = (l: Layout) => stored.store(l, codecs);
const restore = (text: string, steps?: Steps, version?: number) => stored.restore(text, codecs, steps, version);
const shows = (l: Layout, n: number) => panelWhere(l, (p) => p.kind === "terminal" && (p.data as TerminalData).session === id(n));
const beside = (l: Layout, n: number, group: string, side: Side) => c.open(l, term(n), { group, side });

/** Has the timeline on the left and two groups on the right. The lower of them has two tabs. */
function four() {
  const a = beside(startLayout(), 1, "g0", "right");
  const b = beside(a.layout, 2, a.layout.focus, "down");
  const d = c.open(b.layout, term(3), { group: b.layout.focus });
  return { l: d.layout, one: a.panel, two: b.panel, three: d.panel };
}

function sound(l: Layout) {
  const all = groups(l.root);
  const seen = all.flatMap((g) => g.panels);
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.toSorted()).toEqual(Object.keys(l.panels).toSorted());
  expect(seen).toContain(TIMELINE);
  expect(new Set(all.map((g) => g.id)).size).toBe(all.length);
  for (const g of all) expect(g.panels).toContain(g.active);
  expect(all.map((g) => g.id)).toContain(l.focus);
  if (l.zoom) expect(all.map((g) => g.id)).toContain(l.zoom);
  const p = place(l);
  const area = [...p.groups.values()].reduce((n, r) => n + r.w * r.h, 0);
  expect(area).toBeCloseTo(1, 6);
  expect(all.length).toBeLessThanOrEqual(MAX_GROUPS);
}

describe("layout", () => {
  it("splits, tabs and moves", () => {
    const { l, one, two, three } = four();
    sound(l);
    expect(groups(l.root).map((g) => g.panels)).toEqual([[TIMELINE], [one], [two, three]]);
    expect(shownPanels(l)).toEqual([TIMELINE, one, three]);
    const tab = c.move(l, three, { group: groupOf(l, one)?.id ?? "", at: 0 });
    sound(tab);
    expect(groups(tab.root).map((g) => g.panels)).toEqual([[TIMELINE], [three, one], [two]]);
    const away = c.move(tab, two, { group: "g0" }); // its empty group goes
    sound(away);
    expect(groups(away.root).length).toBe(2);
    const side = c.move(away, two, { group: "g0", side: "left" });
    sound(side);
    expect(groups(side.root)[0]?.panels).toEqual([two]);
    expect(c.move(side, two, { group: groups(side.root)[0]?.id ?? "", side: "down" })).toBe(side); // alone in its group
  });

  it("keeps splits of one direction flat, and sizes whole", () => {
    let l = startLayout();
    for (let i = 1; i <= 3; i++) l = beside(l, i, l.focus, "right").layout;
    expect(l.root.kind === "split" && l.root.parts.length).toBe(4);
    expect(l.root.kind === "split" && l.root.sizes.map((s) => Math.round(s * 1000))).toEqual([500, 250, 125, 125]);
    l = c.even(l);
    expect(l.root.kind === "split" && l.root.sizes).toEqual([0.25, 0.25, 0.25, 0.25]);
    sound(l);
  });

  it("closes: the keyboard goes to what is nearest, the timeline stays", () => {
    const { l, one, two, three } = four();
    const a = c.close(l, three);
    expect(a.focus).toBe(groupOf(a, two)?.id);
    const b = c.close(a, two);
    expect(b.focus).toBe(groupOf(b, one)?.id);
    const e = c.close(b, one);
    sound(e);
    expect(groups(e.root).length).toBe(1);
    expect(c.close(e, TIMELINE)).toBe(e);
    const gone = (...n: number[]) => c.closeWhere(l, (p) => n.some((x) => shows(l, x) === p.id));
    sound(gone(1, 3));
    expect([shows(gone(1), 1), shows(gone(1), 3)]).toEqual(["", shows(l, 3)]);
  });

  it("gives the room of a closed pane back to the one it was split from", () => {
    const a = beside(startLayout(), 1, "g0", "right");
    const b = beside(a.layout, 2, a.layout.focus, "right");
    const widths = (l: Layout) => [...place(l).groups.values()].map((r) => Math.round(r.w * 100));
    expect(widths(b.layout)).toEqual([50, 25, 25]);
    expect(widths(c.close(b.layout, b.panel))).toEqual([50, 50]);
    expect(widths(c.close(b.layout, a.panel))).toEqual([50, 50]);
  });

  it("zooms a group; what opens beside it ends that, another focus follows", () => {
    const { l, one } = four();
    const z = c.toggleZoom(l);
    expect(shownPanels(z).length).toBe(1);
    expect(c.toggleZoom(z).zoom).toBe("");
    const follows = c.activate(z, one);
    expect(follows.zoom).toBe(groupOf(l, one)?.id);
    expect(beside(z, 9, z.focus, "right").layout.zoom).toBe("");
    expect(c.toggleZoom(startLayout()).zoom).toBe("");
    sound(c.close(z, groups(z.root)[2]?.active ?? ""));
  });

  it("resizes by line and by key, never below the smallest", () => {
    const { l } = four();
    const g = groups(l.root);
    const line = place(l).lines[0];
    expect(line?.before).toBeCloseTo(0.5);
    let far = c.moveLine(l, line?.split ?? "", 0, 9);
    sound(far);
    expect(place(far).groups.get(g[1]?.id ?? "")?.w).toBeGreaterThan(0.05);
    far = c.stretch(l, "g0", "right", 0.1);
    expect(place(far).groups.get("g0")?.w).toBeCloseTo(0.6);
    far = c.stretch(far, g[2]?.id ?? "", "right", 0.1); // at the edge the opposite border moves, in the same direction
    expect(place(far).groups.get("g0")?.w).toBeCloseTo(0.7);
    far = c.stretch(far, g[2]?.id ?? "", "up", 0.2);
    expect(place(far).groups.get(g[2]?.id ?? "")?.h).toBeCloseTo(0.7);
    expect(c.stretch(startLayout(), "g0", "up", 0.1)).toEqual(startLayout());
  });

  it("finds neighbours and places to drop", () => {
    const { l, one, two } = four();
    const [a, b] = [groupOf(l, one)?.id ?? "", groupOf(l, two)?.id ?? ""];
    expect(neighbour(l, "g0", "right")).toBe(a);
    expect(neighbour(l, a, "left")).toBe("g0");
    expect(neighbour(l, a, "down")).toBe(b);
    expect(neighbour(l, "g0", "up")).toBe("");
    expect([dropSide(0.5, 0.5), dropSide(0.1, 0.5), dropSide(0.95, 0.5), dropSide(0.5, 0.02), dropSide(0.5, 0.9)]).toEqual(["", "left", "right", "up", "down"]);
  });

  it("begins a panel anew in its place", () => {
    const { l, one } = four();
    const again = c.replace(l, one, { kind: "terminal", data: { session: "", target: "host", create: { target: "host" } } });
    sound(again);
    expect(again.panels[one]).toBeUndefined();
    const at = groups(again.root)[1]?.active ?? "";
    const made = c.setData(again, at, term(7).data);
    expect(shows(made, 7)).toBe(at);
    expect(c.setData(made, at, made.panels[at]?.data)).toBe(made);
  });

  it("stays sound whatever is done", () => {
    let seed = 7;
    const rnd = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
    const sides: Side[] = ["left", "right", "up", "down"];
    let l = startLayout();
    for (let i = 1; i < 600; i++) {
      const all = groups(l.root);
      const g = all[rnd(all.length)]?.id ?? "";
      const p = Object.keys(l.panels)[rnd(Object.keys(l.panels).length)] ?? "";
      const side = sides[rnd(4)] as Side;
      const acts: (() => Layout)[] = [
        () => beside(l, i, g, side).layout, () => c.open(l, term(i), { group: g }).layout, () => c.move(l, p, { group: g, at: rnd(4) }),
        () => c.move(l, p, { group: g, side }), () => c.close(l, p), () => c.activate(l, p), () => c.toggleZoom(l),
        () => c.stretch(l, g, side, 0.3), () => c.close(l, p), () => restore(store(l)), () => c.replace(l, p, term(i)),
      ];
      l = acts[rnd(acts.length)]?.() ?? l;
      sound(l);
    }
  });

  it("normalises sizes", () => {
    for (const s of [[0, 0], [NaN, 1], [-1, 5, 1], [1e9, 1e-9], Array.from({ length: 24 }, () => 0)]) {
      const n = normal(s);
      expect(n.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 6);
      for (const v of n) expect(v).toBeGreaterThan(0);
    }
  });
});

describe("stored", () => {
  it("comes back as it was", () => {
    const { l, three } = four();
    const back = restore(store(c.activate(l, three)));
    sound(back);
    expect(groups(back.root).map((g) => [g.panels, g.active])).toEqual(groups(l.root).map((g) => [g.panels, g.active]));
    expect([...place(back).groups.values()]).toEqual([...place(l).groups.values()]);
    expect(groupOf(back, three)?.id).toBe(back.focus);
    expect(store(startLayout())).toBe("");
  });

  it("keeps no panel that has no session yet", () => {
    const { layout } = c.open(startLayout(), { kind: "terminal", data: { session: "", target: "agent", create: {} } }, { group: "g0", side: "right" });
    expect(store(layout)).toBe("");
  });

  it("takes anything for an answer", () => {
    const good = JSON.parse(store(four().l)) as Record<string, unknown>;
    const deep = { kind: "split", parts: [] as unknown[] };
    let at = deep;
    for (let i = 0; i < 500; i++) {
      const next = { kind: "split", parts: [] as unknown[] };
      at.parts.push(next);
      at = next;
    }
    const bad = [
      "", "null", "[]", "{", "12", "{}", '{"version":1}', JSON.stringify({ ...good, version: 0 }), JSON.stringify({ ...good, version: "1" }),
      JSON.stringify({ ...good, root: deep }), JSON.stringify({ ...good, root: null }), JSON.stringify({ ...good, panels: 3 }), "x".repeat(100_000),
      JSON.stringify({ ...good, root: { kind: "split", parts: [good.root, good.root], sizes: ["a", -1] } }),
      JSON.stringify({ ...good, panels: [{ kind: "terminal", id: "p1", session: "../../x" }, { kind: "terminal", id: "__proto__", session: id(1) }, { kind: "browser", id: "p9" }] }),
      JSON.stringify({ ...good, root: { kind: "group", panels: ["p1", "p1", "timeline", "toString"], active: "p9" } }),
      JSON.stringify({ ...good, root: { kind: "split", dir: "row", parts: Array.from({ length: 999 }, () => ({ kind: "group", panels: ["p1"] })), sizes: [] } }),
    ];
    for (const b of bad) sound(restore(b));
    sound(restore(JSON.stringify({ ...good, version: stored.VERSION + 1, more: 1 }))); // from a later version of Loop
  });

  it("loses nothing else with a panel that it does not know, or cannot read", () => {
    const { l, one, two, three } = four();
    const good = JSON.parse(store(l)) as { panels: { id: string }[] };
    const strange = { ...good, panels: good.panels.map((p) => (p.id === two ? { ...p, kind: "holodeck" } : p)) };
    const back = restore(JSON.stringify(strange));
    sound(back);
    expect(Object.keys(back.panels).sort()).toEqual([TIMELINE, one, three].sort());
    const throwing = stored.restore(store(l), () => ({ ...terminalCodec, load: () => { throw new Error("no"); } }));
    expect(Object.keys(throwing.panels)).toEqual([TIMELINE]);
  });

  it("shows what has a name once", () => {
    const good = JSON.parse(store(four().l)) as { panels: { kind: string; session?: string }[] };
    const twice = { ...good, panels: good.panels.map((p) => (p.kind === "terminal" ? { ...p, session: id(9) } : p)) };
    sound(restore(JSON.stringify(twice)));
    expect(Object.keys(restore(JSON.stringify(twice)).panels).length).toBe(2);
  });

  it("goes through every version in between", () => {
    const old = JSON.stringify({ version: 3, tree: JSON.parse(store(four().l)) as unknown });
    const l = restore(old, { 3: (o) => ({ ...(o.tree as object), version: 4 }), 4: (o) => ({ ...o, version: 5 }) }, 5);
    expect(groups(l.root).length).toBe(3);
    expect(groups(restore(old, { 3: () => { throw new Error("no"); } }, 5).root).length).toBe(1);
  });
});

describe("keys", () => {
  const macs = keymapOf("mac", {}), others = keymapOf("linux", {});
  const k = (key: string, m: Partial<Parameters<typeof dockKey>[0]> = {}) => ({ key, code: "", ctrlKey: false, shiftKey: false, altKey: false, metaKey: false, ...m });
  it("takes no letter with Control or Alt alone, and no function key", () => {
    for (const mac of [macs, others]) {
      for (const ch of "abcdefghijklmnopqrstuvwxyz") {
        expect(dockKey(k(ch, { ctrlKey: true }), mac, true)).toBeNull();
        expect(dockKey(k(ch, { altKey: true }), mac, true)).toBeNull();
      }
      for (const f of ["F1", "F6", "F12", "Escape", "Tab", "Enter", "ArrowLeft"]) expect(dockKey(k(f), mac, true)).toBeNull();
      for (const n of "0123456789") expect(dockKey(k(n, { ctrlKey: true }), mac, true)).toBeNull();
    }
  });
  it("maps the rest", () => {
    expect(dockKey(k("ArrowLeft", { altKey: true, shiftKey: true }), others, true)).toEqual({ do: "focus", side: "left" });
    expect(dockKey(k("ArrowDown", { altKey: true, metaKey: true }), macs, true)).toEqual({ do: "focus", side: "down" });
    expect(dockKey(k("X", { ctrlKey: true, shiftKey: true }), others, true)).toEqual({ do: "zoom" });
    expect(dockKey(k("Ч", { code: "KeyX", ctrlKey: true, shiftKey: true }), others, true)).toEqual({ do: "zoom" });
    expect(dockKey(k("3", { ctrlKey: true }), others, false)).toEqual({ do: "number", n: 3 });
    expect(dockKey(k("3", { metaKey: true }), macs, true)).toEqual({ do: "number", n: 3 });
  });
});

describe("sessions", () => {
  const info = (n: number, more: Partial<TerminalInfo> = {}): TerminalInfo => ({ session_id: id(n), channel_id: "c1", target: "agent", state: "running", title: `t${n}`, named: false, cols: 80, rows: 24, viewers: 0, created_at: `2026-01-0${n}T00:00:00Z`, ...more });
  const ev = (type: string, data: unknown) => ({ seq: 1, type, channel_id: "c1", timestamp: 0, data }) as never;
  it("reduces list and events", () => {
    let s = fromList([info(2), info(1), info(3, { channel_id: "c2" })]);
    expect(sessionsOf(s, "c1").map((t) => t.title)).toEqual(["t1", "t2"]);
    s = applyTerminalEvents(s, [ev("terminal.created", info(4)), ev("terminal.changed", info(1, { state: "ended" })), ev("terminal.removed", info(2))]);
    expect(sessionsOf(s, "c1").map((t) => [t.title, t.state])).toEqual([["t1", "ended"], ["t4", "running"]]);
    expect(applyTerminalEvents(s, [ev("agent.status", {}), ev("terminal.changed", null)])).toBe(s);
    expect(noSessions.known).toBe(false);
    expect([...removedSessions([ev("terminal.removed", info(2)), ev("terminal.changed", info(1))])]).toEqual([id(2)]);
  });
});
