// The places of all groups and lines of a layout, as shares of the whole. The page draws
// panels as one flat list at these places, so a moved panel is never made anew.
import type { GroupID, Layout, Node, Side } from "./layout";

export type Rect = { x: number; y: number; w: number; h: number };
export type Line = { split: string; at: number; dir: "row" | "column"; rect: Rect; before: number; both: number; span: number; first: GroupID };
export type Placed = { groups: Map<GroupID, Rect>; lines: Line[] };

const WHOLE: Rect = { x: 0, y: 0, w: 1, h: 1 };

export function place(l: Layout): Placed {
  const out: Placed = { groups: new Map(), lines: [] };
  const go = (n: Node, r: Rect): GroupID => {
    if (n.kind === "group") {
      out.groups.set(n.id, r);
      return n.id;
    }
    let at = 0;
    let first = "";
    n.parts.forEach((p, i) => {
      const size = n.sizes[i] ?? 0;
      const part = n.dir === "row" ? { x: r.x + at * r.w, y: r.y, w: size * r.w, h: r.h } : { x: r.x, y: r.y + at * r.h, w: r.w, h: size * r.h };
      const id = go(p, part);
      if (i === 0) first = id;
      at += size;
      if (i === n.parts.length - 1) return;
      const rect = n.dir === "row" ? { x: r.x + at * r.w, y: r.y, w: 0, h: r.h } : { x: r.x, y: r.y + at * r.h, w: r.w, h: 0 };
      out.lines.push({ split: n.id, at: i, dir: n.dir, rect, before: size, both: size + (n.sizes[i + 1] ?? 0), span: n.dir === "row" ? r.w : r.h, first: id });
    });
    return first;
  };
  go(l.root, WHOLE);
  return out;
}

/** The group on a side that has the longest edge in common. */
export function neighbour(l: Layout, group: GroupID, side: Side): GroupID {
  const { groups } = place(l);
  const a = groups.get(group);
  if (!a) return "";
  let best = "";
  let most = 1e-6;
  for (const [id, b] of groups) {
    if (id === group) continue;
    const touches =
      side === "left" ? near(b.x + b.w, a.x) : side === "right" ? near(b.x, a.x + a.w) : side === "up" ? near(b.y + b.h, a.y) : near(b.y, a.y + a.h);
    const shared = side === "left" || side === "right" ? overlap(a.y, a.h, b.y, b.h) : overlap(a.x, a.w, b.x, b.w);
    if (touches && shared > most + 1e-6) {
      most = shared;
      best = id;
    }
  }
  return best;
}

const EDGE = 0.28; // share of the body: a drop so near to its edge splits the group

/** The side of a group's body where a drop at x and y (shares of the body) splits it; "" for its middle. */
export function dropSide(x: number, y: number): Side | "" {
  const d: [Side, number][] = [["left", x], ["right", 1 - x], ["up", y], ["down", 1 - y]];
  const [side, least] = d.reduce((a, b) => (b[1] < a[1] ? b : a));
  return least < EDGE ? side : "";
}

export function sideRect(r: Rect, side: Side | ""): Rect {
  switch (side) {
    case "left": return { ...r, w: r.w / 2 };
    case "right": return { ...r, x: r.x + r.w / 2, w: r.w / 2 };
    case "up": return { ...r, h: r.h / 2 };
    case "down": return { ...r, y: r.y + r.h / 2, h: r.h / 2 };
    default: return r;
  }
}

function near(a: number, b: number) {
  return Math.abs(a - b) < 1e-6;
}

function overlap(a: number, la: number, b: number, lb: number) {
  return Math.min(a + la, b + lb) - Math.max(a, b);
}
