// A layout as it is kept between visits. What is read back may be old, cut off or
// made up: everything is looked at, and what cannot be used is left out.
import { prune } from "./change";
import type { Group, Layout, Node, Panel } from "./layout";
import { groups, MAX_GROUPS, normal, startLayout, TIMELINE } from "./layout";

export const VERSION = 1;
const MAX_TEXT = 64 * 1024;
const MAX_DEPTH = 12;
const MAX_PANELS = 100;
const ID = /^[0-9a-f]{32}$/; // of a session: 128 bits

/** One step for each version that was ever written: from it to the next. */
export type Steps = Record<number, (old: Record<string, unknown>) => Record<string, unknown>>;
const STEPS: Steps = {};

/** Panels whose session is not made yet are not kept: it may never be. */
export function store(l: Layout): string {
  const kept = Object.values(l.panels).filter((p) => p.kind === "timeline" || p.session !== "");
  const ids = new Set(kept.map((p) => p.id));
  const strip = (n: Node): Node => (n.kind === "split" ? { ...n, parts: n.parts.map(strip) } : { ...n, panels: n.panels.filter((p) => ids.has(p)), active: ids.has(n.active) ? n.active : (n.panels.find((p) => ids.has(p)) ?? "") });
  const { root, focus, zoom } = prune({ ...l, root: strip(l.root) });
  if (root.kind === "group" && root.panels.length === 1) return ""; // as at the start
  const panels = kept.map((p) => (p.kind === "timeline" ? { id: p.id, kind: p.kind } : { id: p.id, kind: p.kind, session: p.session, target: p.target, plain: p.plain }));
  return JSON.stringify({ version: VERSION, root, panels, focus, zoom });
}

export function restore(text: string, steps: Steps = STEPS, version = VERSION): Layout {
  if (!text || text.length > MAX_TEXT) return startLayout();
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return startLayout();
  }
  if (!isObject(data) || typeof data.version !== "number") return startLayout();
  let at = data.version;
  let now: Record<string, unknown> = data;
  while (at < version) {
    const step = steps[at];
    if (!step) return startLayout();
    try {
      now = step(now);
    } catch {
      return startLayout();
    }
    at++;
  }
  // Of a later Loop: what this one knows of it is used, the rest left out.
  return read(now) ?? startLayout();
}

function read(d: Record<string, unknown>): Layout | null {
  const panels = readPanels(d.panels);
  const left = new Set(Object.keys(panels));
  const ids = { groups: 0, splits: 0 };
  const node = (v: unknown, depth: number): Node | null => {
    if (!isObject(v) || depth > MAX_DEPTH) return null;
    if (v.kind === "group") return group(v);
    if (v.kind !== "split" || !Array.isArray(v.parts)) return null;
    const sizes: unknown[] = Array.isArray(v.sizes) ? v.sizes : [];
    const parts: unknown[] = v.parts.slice(0, MAX_GROUPS);
    const found = parts.flatMap((p, i) => {
      const n = node(p, depth + 1);
      const size = sizes[i];
      return n ? [{ n, size: typeof size === "number" ? size : 1 / parts.length }] : [];
    });
    if (found.length === 0) return null;
    return { kind: "split", id: `s${ids.splits++}`, dir: v.dir === "column" ? "column" : "row", parts: found.map((f) => f.n), sizes: normal(found.map((f) => f.size)) };
  };
  const renamed = new Map<string, string>();
  const group = (v: Record<string, unknown>): Group | null => {
    const list = (Array.isArray(v.panels) ? v.panels : []).filter((p): p is string => typeof p === "string" && left.delete(p));
    const first = list[0];
    if (!first || ids.groups >= MAX_GROUPS) return null;
    const id = `g${ids.groups++}`;
    if (typeof v.id === "string") renamed.set(v.id, id);
    return { kind: "group", id, panels: list, active: typeof v.active === "string" && list.includes(v.active) ? v.active : first };
  };
  const root = node(d.root, 0);
  if (!root) return null;
  const placed = new Set(groups(root).flatMap((g) => g.panels));
  const used: Record<string, Panel> = {};
  for (const p of Object.values(panels)) if (placed.has(p.id)) used[p.id] = p;
  const numbers = Object.keys(used).map((id) => Number(/^p(\d{1,9})$/.exec(id)?.[1] ?? 0));
  const l: Layout = {
    root, panels: used, focus: renamed.get(String(d.focus)) ?? "", zoom: renamed.get(String(d.zoom)) ?? "",
    next: Math.max(ids.groups, ids.splits, ...numbers) + 1,
  };
  if (used[TIMELINE]) return prune(l);
  // The timeline cannot be lost.
  const whole: Layout = { ...l, panels: { ...used, [TIMELINE]: { id: TIMELINE, kind: "timeline" } } };
  const g = groups(root)[0] as Group;
  const put = (n: Node): Node => (n.kind === "split" ? { ...n, parts: n.parts.map(put) } : n.id === g.id ? { ...n, panels: [TIMELINE, ...n.panels] } : n);
  return prune({ ...whole, root: put(root) });
}

function readPanels(v: unknown): Record<string, Panel> {
  const out: Record<string, Panel> = {};
  const sessions = new Set<string>();
  for (const p of Array.isArray(v) ? v.slice(0, MAX_PANELS) : []) {
    if (!isObject(p)) continue;
    if (p.kind === "timeline") out[TIMELINE] = { id: TIMELINE, kind: "timeline" };
    if (p.kind !== "terminal" || typeof p.id !== "string" || !/^p\d{1,9}$/.test(p.id)) continue;
    if (typeof p.session !== "string" || !ID.test(p.session) || sessions.has(p.session)) continue;
    sessions.add(p.session);
    out[p.id] = { id: p.id, kind: "terminal", session: p.session, target: p.target === "host" ? "host" : "agent", ...(p.plain === true ? { plain: true } : {}) };
  }
  return out;
}

function isObject(v: unknown): v is Record<string, unknown> {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}
