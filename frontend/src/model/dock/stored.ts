// A layout as it is kept between visits. The stored text may be old, cut off or made up.
// So every part is checked, and an unusable part is left out.
import { prune } from "./change";
import type { Group, Layout, Node, Panel } from "./layout";
import { groups, MAX_GROUPS, normal, startLayout, TIMELINE } from "./layout";

export const VERSION = 1;
const MAX_TEXT = 64 * 1024;
const MAX_DEPTH = 12;
const MAX_PANELS = 100;

/** Says how a kind of panel is kept between visits. A panel of a kind without a codec goes with the page. */
export type Codec<Data = unknown> = {
  /** The part of the data to keep. null: the panel is not kept. */
  store?(data: Data): Record<string, unknown> | null;
  /** The data from the kept part, which may be old or made up. undefined: it cannot be used. A panel without data has null. */
  load?(kept: Record<string, unknown>): Data | undefined;
  /** Names the content. Only one panel may show it: of two with the same name the first stays. */
  key?(data: Data): string;
};
export type Codecs = (kind: string) => Codec | undefined;

/** One step for each earlier version: it turns that version's data into the next one's. */
export type Steps = Record<number, (old: Record<string, unknown>) => Record<string, unknown>>;
const STEPS: Steps = {};

export function store(l: Layout, codecs: Codecs): string {
  const kept = Object.values(l.panels).flatMap(({ id, kind, data }) => {
    const what = id === TIMELINE ? {} : codecs(kind)?.store?.(data);
    return what ? [{ ...what, id, kind }] : [];
  });
  const ids = new Set(kept.map((p) => p.id));
  const strip = (n: Node): Node => (n.kind === "split" ? { ...n, parts: n.parts.map(strip) } : { ...n, panels: n.panels.filter((p) => ids.has(p)), active: ids.has(n.active) ? n.active : (n.panels.find((p) => ids.has(p)) ?? "") });
  const { root, focus, zoom } = prune({ ...l, root: strip(l.root) });
  if (root.kind === "group" && root.panels.length === 1) return ""; // a layout as at the start needs no text
  return JSON.stringify({ version: VERSION, root, panels: kept, focus, zoom });
}

export function restore(text: string, codecs: Codecs, steps: Steps = STEPS, version = VERSION): Layout {
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
  // A layout of a later Loop is read as far as this Loop knows its parts.
  return read(now, codecs) ?? startLayout();
}

function read(d: Record<string, unknown>, codecs: Codecs): Layout | null {
  const panels = readPanels(d.panels, codecs);
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
  // A layout without the timeline gets it back.
  const whole: Layout = { ...l, panels: { ...used, ...startLayout().panels } };
  const g = groups(root)[0] as Group;
  const put = (n: Node): Node => (n.kind === "split" ? { ...n, parts: n.parts.map(put) } : n.id === g.id ? { ...n, panels: [TIMELINE, ...n.panels] } : n);
  return prune({ ...whole, root: put(root) });
}

/** Reads the panels. One of a kind that this Loop does not have is left out; the others stay in place. */
function readPanels(v: unknown, codecs: Codecs): Record<string, Panel> {
  const out: Record<string, Panel> = {};
  const seen = new Set<string>();
  for (const p of Array.isArray(v) ? v.slice(0, MAX_PANELS) : []) {
    if (!isObject(p)) continue;
    const { id, kind } = p;
    if (kind === TIMELINE) Object.assign(out, startLayout().panels);
    if (typeof id !== "string" || !/^p\d{1,9}$/.test(id) || typeof kind !== "string") continue;
    const codec = codecs(kind);
    const data = codec ? loaded(codec, p) : undefined;
    if (!codec || data === undefined) continue;
    const name = codec.key?.(data);
    if (name && seen.has(`${kind} ${name}`)) continue;
    seen.add(`${kind} ${name}`);
    out[id] = { id, kind, data };
  }
  return out;
}

/** Reads one panel's data. A kind that throws loses its own panel, never the layout. */
function loaded(codec: Codec, kept: Record<string, unknown>): unknown {
  try {
    return codec.load?.(kept);
  } catch {
    return undefined;
  }
}

function isObject(v: unknown): v is Record<string, unknown> {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}
