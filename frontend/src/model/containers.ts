// What the panel of containers says of each: a state, who holds it, what happens next.
import type { Channel, ContainerDrift, ContainerWatch, Holder, WatchedContainer } from "../api/types";
import { elapsed, plural } from "./format";
import { visible } from "./text";

/** Name of the kind of panel. */
export const CONTAINERS_PANEL = "containers";

export type Tone = "work" | "need" | "fail" | "quiet";
export type NextIcon = "lock" | "clock" | "hourglass" | "trash" | "warning";
export type ContainerRow = {
  c: WatchedContainer;
  id: string;
  title: string; // of its channel, for whom it was made
  kind: Channel["kind"] | "gone";
  part: "" | "browser" | "shell";
  state: string;
  tone: Tone;
  held: { kind: Holder["kind"]; text: string }[];
  up: string;
  next: string;
  nextIcon: NextIcon;
  nextTone: Tone;
};

export type ContainerFilter = "all" | "held" | "ending" | "changed";
export const FILTERS: readonly (readonly [ContainerFilter, string])[] = [["all", "All"], ["held", "Held"], ["ending", "Ending"], ["changed", "Changed"]];

const HOLDERS: Record<string, [one: string, many?: string]> = {
  run: ["run"], terminal: ["terminal"], git: ["git command"], "set-up": ["set-up"], person: ["person", "people"], browser: ["browser"],
  prompt: ["prompt being written", "prompts being written"],
};

/** Holders of a kind, counted: “run”, “2 terminals”. */
function holderWords(kind: string, n: number): string {
  const [one, many] = HOLDERS[kind] ?? [visible(kind)];
  return n === 1 ? one : plural(n, one, many);
}

const SOON_MS = 60 * 60 * 1000; // what ends within an hour is ending
const DAY_MS = 24 * 60 * 60 * 1000;
const RANK = ["working", "finishing", "running", "paused", "idle", "out of memory"];

/** A long time in two units: “1 d 4 h”. */
export function longTime(ms: number): string {
  const hours = Math.floor((ms % DAY_MS) / 3_600_000);
  return ms < DAY_MS ? elapsed(ms) : `${Math.floor(ms / DAY_MS)} d${hours ? ` ${hours} h` : ""}`;
}

/** Bytes as the settings count them: 1 MB is 1024 × 1024. */
export function bytes(n: number): string {
  const mb = n / 1024 / 1024;
  if (n > 0 && mb < 1) return `${Math.max(1, Math.round(n / 1024))} kB`;
  if (mb < 1000) return `${Math.round(mb)} MB`;
  return `${(mb / 1024).toFixed(1).replace(/\.0$/, "")} GB`;
}

export const endsAt = (c: WatchedContainer): number => (c.ends_at ? Date.parse(c.ends_at) : 0);

export const isHeld = (c: WatchedContainer): boolean => (c.holders ?? []).length > 0;

const outOfMemory = (c: WatchedContainer) => c.status !== "running" && c.engine?.oom_killed === true;

function stateOf(c: WatchedContainer): [string, Tone] {
  const has = (...kinds: string[]) => (c.holders ?? []).some((h) => kinds.includes(h.kind));
  if (outOfMemory(c)) return ["out of memory", "fail"];
  switch (c.status) {
    case "reserved":
      return ["starting", "work"];
    case "running":
      if (c.engine?.paused) return ["paused", "need"];
      if (isHeld(c) && c.type !== "chrome" && !c.scope && !c.run_id) return ["finishing", "work"]; // others use it, and nobody joins
      if (has("run", "git", "set-up")) return ["working", "work"];
      return [isHeld(c) ? "running" : "idle", "quiet"];
    case "pending-removal":
      return ["kept", "quiet"];
    default:
      return ["stopped", "quiet"];
  }
}

/** What differs, in words that fit a row: “mounts”, “image and limits”. */
export function driftParts(d: ContainerDrift): string {
  const parts = (d.parts ?? []).map((p) => p.replace(/[:].*$/, "").trim()).filter((p) => !p.startsWith("by settings"));
  return new Intl.ListFormat("en-GB").format(parts.length > 0 ? parts : ["settings"]);
}

function nextOf(c: WatchedContainer, now: number): Pick<ContainerRow, "next" | "nextIcon" | "nextTone"> {
  const at = endsAt(c);
  const left = at > now ? ` in ${longTime(at - now)}` : "";
  const say = (next: string, nextIcon: NextIcon, nextTone: Tone = "quiet") => ({ next, nextIcon, nextTone });
  const d = c.drift;
  if (c.status === "running" && d?.changed) {
    const then = !d.replaced ? "recreated once unused for 5 m" : isHeld(c) ? "will be recreated" : "the next use recreates it";
    return say(`${driftParts(d)} changed: ${then}`, "warning", "need");
  }
  if (c.remove_at) return c.status === "running" ? say("ending: nobody holds it", "clock") : say(`kept to look into, removed${left || " now"}`, "trash");
  if (isHeld(c)) return say(c.scope ? "stays while it is held" : "ends with the last who holds it", "lock");
  if (c.status === "stopped") return say(left ? `started by the next use, ends${left}` : "started by the next use", "clock");
  if (left) return say(`idle, ends${left}`, "hourglass");
  return say(at ? "ends now" : c.ends_why || "stays", "hourglass");
}

function heldBy(holders: Holder[]): ContainerRow["held"] {
  const kinds = [...new Set(holders.map((h) => h.kind))];
  return kinds.map((kind) => ({ kind, text: holderWords(kind, holders.filter((h) => h.kind === kind).length) }));
}

export function rowsOf(list: WatchedContainer[], channels: Channel[], now: number): ContainerRow[] {
  const rows = list.map((c): ContainerRow => {
    const ch = channels.find((x) => x.channel_id === c.channel_id);
    const [state, tone] = stateOf(c);
    const part = c.type === "chrome" ? "browser" : c.type === "shell" ? "shell" : "";
    const running = c.status === "running" || c.status === "reserved";
    return {
      c, id: c.container_id, title: ch?.name ?? "removed channel", kind: ch?.kind ?? "gone", part, state, tone, held: heldBy(c.holders ?? []),
      up: running ? longTime(Math.max(0, now - Date.parse(c.created_at))) : "ended", ...nextOf(c, now),
    };
  });
  const rank = (r: ContainerRow) => (RANK.includes(r.state) ? RANK.indexOf(r.state) : RANK.length);
  return rows.toSorted((a, b) => rank(a) - rank(b) || Date.parse(a.c.created_at) - Date.parse(b.c.created_at));
}

export function fits(r: ContainerRow, filter: ContainerFilter, now: number): boolean {
  switch (filter) {
    case "held":
      return isHeld(r.c);
    case "ending":
      return !isHeld(r.c) && (Boolean(r.c.remove_at) || (endsAt(r.c) > 0 && endsAt(r.c) - now < SOON_MS));
    case "changed":
      return r.c.drift?.changed === true;
    default:
      return true;
  }
}

/** Whether all words that were typed stand somewhere in the row. */
export function matches(r: ContainerRow, typed: string): boolean {
  const text = [r.title, r.part, r.c.container_name, r.c.container_id, r.state, r.next, ...r.held.map((h) => h.text)].join(" ").toLowerCase();
  return typed.toLowerCase().split(/\s+/).every((w) => text.includes(w));
}

// --- what they use ---

const WINDOW_MS = 10 * 60 * 1000;
const GAP_MS = 30_000; // a longer time without a sample is not drawn over
const HIGH = 0.85;

export type Used = { now: number; most: number; limit: number; high: boolean; line: string; area: string };
export type What = "cpu" | "memory";

/** The limit of a container: its own, or what the engine's machine has. 0 is not known. */
export function limitOf(c: WatchedContainer, what: What, w: Pick<ContainerWatch, "cpus" | "memory_bytes">): number {
  const l = c.engine?.limits;
  return what === "cpu" ? l?.cpus || w.cpus : l?.memory_bytes || w.memory_bytes;
}

/** What a container uses, and its line in a box of the size: the left edge is ten minutes ago, and the top is the limit. null: no sample yet. */
export function usedOf(c: WatchedContainer, what: What, limit: number, now: number, width: number, height: number): Used | null {
  const points = (c.samples ?? []).filter((s) => s.at_ms >= now - WINDOW_MS).map((s) => ({ at: s.at_ms, value: what === "cpu" ? s.cpus : s.memory_bytes }));
  const last = points.at(-1);
  if (!last) return null;
  const most = Math.max(...points.map((p) => p.value));
  const top = limit || most || 1;
  const x = (at: number) => (Math.min(1, Math.max(0, 1 - (now - at) / WINDOW_MS)) * width).toFixed(1);
  const y = (value: number) => (height - Math.min(1, Math.max(0, value / top)) * (height - 1)).toFixed(1);
  let line = "", area = "", begun = "";
  points.forEach((p, i) => {
    const before = points[i - 1], after = points[i + 1];
    const begins = !before || p.at - before.at > GAP_MS;
    if (begins) begun = x(p.at);
    line += `${begins ? "M" : "L"}${x(p.at)} ${y(p.value)}`;
    area += begins ? `M${x(p.at)} ${height}L${x(p.at)} ${y(p.value)}` : `L${x(p.at)} ${y(p.value)}`;
    if (!after || after.at - p.at > GAP_MS) area += `L${x(p.at)} ${height}L${begun} ${height}Z`;
  });
  return { now: last.value, most, limit, high: limit > 0 && last.value / limit >= HIGH, line, area };
}

export const percent = (value: number, of: number): string => (of > 0 ? `${Math.round((100 * value) / of)} %` : "");

/** The line above the table: what all of them use together. */
export function sums(w: ContainerWatch): { cpus: string; memory: string; warm: string } {
  const list = w.containers ?? [];
  const last = list.filter((c) => c.status === "running").map((c) => c.samples?.at(-1));
  const add = (f: (s: { cpus: number; memory_bytes: number }) => number) => last.reduce((n, s) => n + (s ? f(s) : 0), 0);
  const warm = list.filter((c) => c.warm).length;
  return {
    cpus: w.cpus ? `${add((s) => s.cpus).toFixed(1)} of ${plural(w.cpus, "CPU")}` : "",
    memory: w.memory_bytes ? `${bytes(add((s) => s.memory_bytes))} of ${bytes(w.memory_bytes)}` : "",
    warm: w.warm_most ? `${warm} of ${w.warm_most} kept warm` : `${warm} kept warm`,
  };
}

// --- commands ---

/** Commands that a person may want to type, for a menu. */
export function commandsFor(c: WatchedContainer): { name: string; text: string }[] {
  const name = c.container_name;
  return [
    { name: "Follow its log", text: `loop logs --follow ${name}` },
    { name: "Say everything of it", text: `loop inspect ${name}` },
    { name: "A shell in it", text: `docker exec -it ${name} bash` },
    { name: "Stop it", text: `loop stop ${name}` },
    { name: "Remove it", text: `loop rm ${name}` },
  ];
}

/** Who ends or goes on, for a question: “1 run and 2 terminals”. */
export function holdersList(holders: Holder[]): string {
  return new Intl.ListFormat("en-GB").format(heldBy(holders).map((h) => (/^\d/.test(h.text) ? h.text : `a ${h.text}`)));
}

/** What a container has that nothing else has. */
export function lossOf(c: WatchedContainer): string {
  const size = c.size_bytes > 0 ? ` (${bytes(c.size_bytes)})` : "";
  return `What was changed in the container itself${size} is lost: files outside its folders of this computer and its volumes, and what lies in /tmp.`;
}
