// The centre of the page as a tree: splits hold groups, a group holds panels behind
// tabs. All of it is plain data that is never changed in place.
export type PanelID = string;
export type GroupID = string;

/** Only a panel's kind (dock/panels.ts) can read its data. */
export type NewPanel<Data = unknown> = { kind: string; data: Data };
export type Panel<Data = unknown> = NewPanel<Data> & { id: PanelID };

export type Group = { kind: "group"; id: GroupID; panels: PanelID[]; active: PanelID };
export type Split = { kind: "split"; id: string; dir: "row" | "column"; parts: Node[]; sizes: number[] }; // sizes add up to 1
export type Node = Group | Split;

export type Layout = {
  root: Node;
  panels: Record<PanelID, Panel>;
  focus: GroupID; // the group that has, or last had, the keyboard
  zoom: GroupID; // the group shown alone; "" if all are shown
  next: number; // the number of the next id
};

export type Side = "left" | "right" | "up" | "down";

/** Id and kind of the one panel that every layout has; it cannot be closed. */
export const TIMELINE: PanelID = "timeline";
const TIMELINE_PANEL: Panel = { id: TIMELINE, kind: TIMELINE, data: null };
export const MAX_GROUPS = 24;
export const MIN_SIZE = 0.06; // share of the split; a smaller part can be neither seen nor grabbed

export function startLayout(): Layout {
  return {
    root: { kind: "group", id: "g0", panels: [TIMELINE], active: TIMELINE },
    panels: { [TIMELINE]: TIMELINE_PANEL }, focus: "g0", zoom: "", next: 1,
  };
}

/** The groups in reading order: left to right, top to bottom. */
export function groups(n: Node): Group[] {
  return n.kind === "group" ? [n] : n.parts.flatMap(groups);
}

export function groupOf(l: Layout, panel: PanelID): Group | undefined {
  return groups(l.root).find((g) => g.panels.includes(panel));
}

export function groupById(l: Layout, id: GroupID): Group | undefined {
  return groups(l.root).find((g) => g.id === id);
}

/** The group with the keyboard; there always is one. */
export function focusGroup(l: Layout): Group {
  const all = groups(l.root);
  return all.find((g) => g.id === l.focus) ?? (all[0] as Group);
}

export function focusPanel(l: Layout): PanelID {
  return focusGroup(l).active;
}

export function panelWhere(l: Layout, is: (p: Panel) => boolean): PanelID {
  return Object.values(l.panels).find(is)?.id ?? "";
}

/** The first group with a panel of a kind. */
export function groupOfKind(l: Layout, kind: string): Group | undefined {
  return groups(l.root).find((g) => g.panels.some((p) => l.panels[p]?.kind === kind));
}

/** The visible panels: the one in front of each group, or of the zoomed group alone. */
export function shownPanels(l: Layout): PanelID[] {
  return groups(l.root).filter((g) => !l.zoom || g.id === l.zoom).map((g) => g.active);
}

export function mapGroups(n: Node, f: (g: Group) => Group): Node {
  if (n.kind === "group") return f(n);
  const parts = n.parts.map((p) => mapGroups(p, f));
  return parts.every((p, i) => p === n.parts[i]) ? n : { ...n, parts };
}

/** Scales sizes so that they add up to 1 and none is below MIN_SIZE. */
export function normal(sizes: number[]): number[] {
  const min = Math.min(MIN_SIZE, 1 / sizes.length);
  const clean = sizes.map((s) => (Number.isFinite(s) && s > 0 ? Math.max(s, 1e-6) : 1e-6));
  const sum = clean.reduce((a, b) => a + b, 0);
  const part = clean.map((s) => s / sum);
  const small = part.filter((s) => s < min).length * min;
  const big = part.filter((s) => s >= min).reduce((a, b) => a + b, 0);
  if (small === 0 || big === 0) return part;
  const scaled = part.map((s) => (s < min ? min : (s / big) * (1 - small)));
  // Scaling down may bring another size below the least. All parts are then made equal.
  return scaled.some((s) => s < min - 1e-9) ? scaled.map(() => 1 / scaled.length) : scaled;
}
