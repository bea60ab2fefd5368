// Changes of a layout. Each function returns a new layout, or the same one if there
// is nothing to change.
import type { Group, GroupID, Layout, NewPanel, Node, Panel, PanelID, Side, Split } from "./layout";
import { focusGroup, groupById, groupOf, groups, mapGroups, MAX_GROUPS, MIN_SIZE, normal, TIMELINE } from "./layout";

export type Place = { group: GroupID; at?: number } | { group: GroupID; side: Side };

/** Opens a new panel, as a tab of a group or beside one, and gives it the keyboard. */
export function open(l: Layout, made: NewPanel, to: Place): { layout: Layout; panel: PanelID } {
  const id = `p${l.next}`;
  const panels = { ...l.panels, [id]: { ...made, id } };
  const base = { ...l, panels, next: l.next + 1 };
  const target = groupById(base, to.group) ?? focusGroup(base);
  const fits = "side" in to && groups(l.root).length < MAX_GROUPS;
  const layout = fits ? beside(base, id, target.id, to.side) : into(base, id, target.id, "at" in to ? to.at : undefined);
  return { layout: { ...layout, zoom: fits ? "" : layout.zoom && layout.focus }, panel: id };
}

/** Puts a panel somewhere else. */
export function move(l: Layout, panel: PanelID, to: Place): Layout {
  const from = groupOf(l, panel);
  const target = groupById(l, to.group);
  if (!from || !target) return l;
  if ("side" in to) {
    if (from.id === target.id && from.panels.length === 1) return l;
    if (groups(l.root).length >= MAX_GROUPS && from.panels.length > 1) return l;
    const next = beside(takeOut(l, panel, true), panel, target.id, to.side);
    return { ...prune(next), zoom: "" };
  }
  if (from.id === target.id) {
    const rest = from.panels.filter((p) => p !== panel);
    const at = Math.min(to.at ?? rest.length, rest.length);
    const list = [...rest.slice(0, at), panel, ...rest.slice(at)];
    return activate({ ...l, root: mapGroups(l.root, (g) => (g.id === from.id ? { ...g, panels: list } : g)) }, panel);
  }
  return prune(into(takeOut(l, panel, true), panel, target.id, to.at));
}

export function activate(l: Layout, panel: PanelID): Layout {
  const g = groupOf(l, panel);
  if (!g || (g.active === panel && l.focus === g.id && (!l.zoom || l.zoom === g.id))) return l;
  const root = mapGroups(l.root, (x) => (x.id === g.id && x.active !== panel ? { ...x, active: panel } : x));
  return { ...l, root, focus: g.id, zoom: l.zoom && g.id };
}

export function close(l: Layout, panel: PanelID): Layout {
  if (panel === TIMELINE || !groupOf(l, panel)) return l;
  const { [panel]: _gone, ...panels } = l.panels;
  return prune({ ...takeOut(l, panel, false), panels });
}

export function closeWhere(l: Layout, is: (p: Panel) => boolean): Layout {
  return Object.values(l.panels).filter(is).reduce((x, p) => close(x, p.id), l);
}

/** Gives a panel new data. The same data change nothing. */
export function setData(l: Layout, panel: PanelID, data: unknown): Layout {
  const p = l.panels[panel];
  return !p || p.data === data ? l : { ...l, panels: { ...l.panels, [panel]: { ...p, data } } };
}

/** Begins a panel anew in its place. It gets another id, so that nothing of the old one stays. */
export function replace(l: Layout, panel: PanelID, made: NewPanel): Layout {
  const g = groupOf(l, panel);
  if (!g || panel === TIMELINE) return l;
  const { layout, panel: id } = open(l, made, { group: g.id, at: g.panels.indexOf(panel) });
  return activate(close(layout, panel), id);
}

export function toggleZoom(l: Layout): Layout {
  if (l.zoom) return { ...l, zoom: "" };
  return l.root.kind === "group" ? l : { ...l, zoom: focusGroup(l).id };
}

/** Moves the line after part `at` of a split by a share of the split. */
export function moveLine(l: Layout, split: string, at: number, by: number, min = MIN_SIZE): Layout {
  return inSplits(l, (s) => {
    const [a, b] = [s.sizes[at], s.sizes[at + 1]];
    if (s.id !== split || a === undefined || b === undefined) return s;
    const least = Math.min(min, (a + b) / 2);
    const first = Math.min(a + b - least, Math.max(least, a + by));
    if (Math.abs(first - a) < 1e-6) return s;
    return { ...s, sizes: s.sizes.map((v, i) => (i === at ? first : i === at + 1 ? a + b - first : v)) };
  });
}

/** Makes the parts of one split, or of every split, equally large. */
export function even(l: Layout, split = ""): Layout {
  return inSplits(l, (s) => (split && s.id !== split ? s : { ...s, sizes: s.parts.map(() => 1 / s.parts.length) }));
}

/**
 * Moves a border of a group towards a side: the border on that side, or the
 * opposite one where that side is the page's edge. So every arrow key has an effect.
 */
export function stretch(l: Layout, group: GroupID, side: Side, step: number): Layout {
  const dir = side === "left" || side === "right" ? "row" : "column";
  const sign = side === "right" || side === "down" ? 1 : -1;
  const path = pathTo(l.root, group).filter((x) => x.split.dir === dir).reverse();
  const own = path.find((x) => (sign > 0 ? x.at < x.split.parts.length - 1 : x.at > 0)) ?? path[0];
  if (!own) return l;
  const last = own.split.parts.length - 1;
  const line = sign > 0 ? Math.min(own.at, last - 1) : Math.max(own.at - 1, 0);
  return moveLine(l, own.split.id, line, sign * step);
}

// --- parts ---

function into(l: Layout, panel: PanelID, group: GroupID, at?: number): Layout {
  const root = mapGroups(l.root, (g) => {
    if (g.id !== group) return g;
    const i = at ?? g.panels.indexOf(g.active) + 1;
    return { ...g, panels: [...g.panels.slice(0, i), panel, ...g.panels.slice(i)], active: panel };
  });
  return { ...l, root, focus: group, zoom: l.zoom && group };
}

function beside(l: Layout, panel: PanelID, target: GroupID, side: Side): Layout {
  const made: Group = { kind: "group", id: `g${l.next}`, panels: [panel], active: panel };
  const dir = side === "left" || side === "right" ? "row" : "column";
  const after = side === "right" || side === "down";
  const split = (g: Node): Split => ({ kind: "split", id: `s${l.next}`, dir, parts: after ? [g, made] : [made, g], sizes: [0.5, 0.5] });
  const insert = (n: Node): Node => {
    if (n.kind === "group") return n.id === target ? split(n) : n;
    const at = n.parts.findIndex((p) => p.kind === "group" && p.id === target);
    if (at < 0 || n.dir !== dir) return { ...n, parts: n.parts.map(insert) };
    const half = (n.sizes[at] ?? 0) / 2;
    const i = after ? at + 1 : at;
    const sizes = n.sizes.map((s, j) => (j === at ? half : s));
    return { ...n, parts: [...n.parts.slice(0, i), made, ...n.parts.slice(i)], sizes: normal([...sizes.slice(0, i), half, ...sizes.slice(i)]) };
  };
  return { ...l, root: insert(l.root), focus: made.id, next: l.next + 1 };
}

/** Takes a panel out. A group without panels stays in the tree; prune removes it. */
function takeOut(l: Layout, panel: PanelID, moving: boolean): Layout {
  const root = mapGroups(l.root, (g) => {
    const i = g.panels.indexOf(panel);
    if (i < 0) return g;
    const panels = g.panels.filter((p) => p !== panel);
    return { ...g, panels, active: g.active === panel ? (panels[Math.min(i, panels.length - 1)] ?? "") : g.active };
  });
  // The keyboard goes from a closed panel to the nearest group.
  const g = groupOf(l, panel);
  if (moving || !g || g.panels.length > 1 || l.focus !== g.id) return { ...l, root };
  const all = groups(l.root);
  const i = all.findIndex((x) => x.id === g.id);
  return { ...l, root, focus: (all[i - 1] ?? all[i + 1])?.id ?? l.focus };
}

/** Removes empty groups, splits of one part, and splits within one of the same direction. */
export function prune(l: Layout): Layout {
  const clean = (n: Node): Node | null => {
    if (n.kind === "group") return n.panels.length > 0 ? n : null;
    const parts: Node[] = [];
    const sizes: number[] = [];
    const kept = n.parts.map(clean);
    const room = roomFor(kept, n.sizes);
    kept.forEach((c, i) => {
      if (!c) return;
      const size = room[i] ?? 0;
      if (c.kind === "split" && c.dir === n.dir) {
        parts.push(...c.parts);
        sizes.push(...c.sizes.map((s) => s * size));
      } else {
        parts.push(c);
        sizes.push(size);
      }
    });
    if (parts.length < 2) return parts[0] ?? null;
    return { ...n, parts, sizes: normal(sizes) };
  };
  const root = clean(l.root) ?? l.root;
  const next = { ...l, root };
  const has = (id: GroupID) => groups(root).some((g) => g.id === id);
  return { ...next, focus: has(l.focus) ? l.focus : (groups(root)[0]?.id ?? ""), zoom: root.kind === "split" && has(l.zoom) ? l.zoom : "" };
}

/** Gives the room of a removed part to its smaller neighbour, which most often was split from it. */
function roomFor(kept: (Node | null)[], sizes: number[]): number[] {
  const room = sizes.slice();
  kept.forEach((c, i) => {
    if (c) return;
    const to = [i - 1, i + 1].filter((j) => kept[j]).toSorted((a, b) => (room[a] ?? 0) - (room[b] ?? 0))[0];
    if (to !== undefined) room[to] = (room[to] ?? 0) + (sizes[i] ?? 0);
  });
  return room;
}

function inSplits(l: Layout, f: (s: Split) => Split): Layout {
  const go = (n: Node): Node => {
    if (n.kind === "group") return n;
    const parts = n.parts.map(go);
    return f(parts.every((p, i) => p === n.parts[i]) ? n : { ...n, parts });
  };
  const root = go(l.root);
  return root === l.root ? l : { ...l, root };
}

function pathTo(n: Node, group: GroupID): { split: Split; at: number }[] {
  if (n.kind === "group") return [];
  for (const [at, p] of n.parts.entries()) {
    if (p.kind === "group" ? p.id === group : groups(p).some((g) => g.id === group)) return [{ split: n, at }, ...pathTo(p, group)];
  }
  return [];
}
