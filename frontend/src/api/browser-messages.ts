// The messages of a browser's pane, and the checks of what comes from the socket: pages and
// their titles are strangers' texts.
import type { Failure } from "./types";

export type BrowserTab = { target_id: string; title: string; url: string; icon: string; active: boolean; loading: boolean; crashed: boolean; back: boolean; forward: boolean };
export type BrowserText = { size: number; color: string; contrast: number };
export type BrowserTarget = { role: string; name: string; selector: string; ref: number; text: BrowserText | null; x: number; y: number; width: number; height: number };
export type BrowserView = { width: number; height: number; scale: number; mobile: boolean; dark: boolean; network: "" | "offline" | "slow"; zoom: number };
export type BrowserDialog = { kind: string; message: string; default: string };
export type BrowserDeed = { text: string; at: number; ok: boolean; target: BrowserTarget | null };
export type BrowserLine = { seq: number; time: number; level: string; text: string; source: string };
export type BrowserRequest = { seq: number; rev: number; time: number; method: string; url: string; kind: string; status: number; error: string; bytes: number; ms: number };
export type BrowserOption = { label: string; group: string; disabled: boolean; chosen: boolean };
/** What the page would show in a window of its own, which a Chromium without a screen does not draw. */
export type BrowserPopup = {
  id: number; kind: "select" | "input" | "menu"; x: number; y: number; width: number; height: number; options: BrowserOption[]; input: string; value: string; link: string; editable: boolean;
};
export type BrowserChooser = { multiple: boolean; accept: string };
export type BrowserDownload = { id: string; name: string; bytes: number; total: number; state: "running" | "done" | "refused"; path: string; why: string; at: number };
export type BrowserPort = { port: number; url: string; process: string };
export type BrowserPhase = "idle" | "starting" | "running" | "crashed" | "off";
export type BrowserDriver = "nobody" | "agent" | "person";
export type BrowserState = {
  phase: BrowserPhase; step: string; sinceMs: number; failure: Failure | null; driver: BrowserDriver; waitingMs: number;
  tabs: BrowserTab[]; dialog: BrowserDialog | null; deed: BrowserDeed | null; errors: number; requests: number; view: BrowserView; notices: string[];
  popup: BrowserPopup | null; cursor: string; chooser: BrowserChooser | null; downloads: BrowserDownload[]; ports: BrowserPort[]; mode: "docker" | "host";
};
export type BrowserResult = { result: string; error: string; image: string; target: BrowserTarget | null };
export type BrowserInput = {
  kind: "mousemove" | "mousedown" | "mouseup" | "scroll" | "keydown" | "keyup" | "text" | "paste" | "compose" | "touch";
  x?: number; y?: number; button?: string; click_count?: number; delta_x?: number; delta_y?: number;
  key?: string; code?: string; key_code?: number; text?: string; modifiers?: number;
};
export type BrowserCommand =
  | { type: "start"; channel_id: string; view: BrowserView }
  | { type: "view"; view: BrowserView }
  | { type: "painted"; id: number }
  | { type: "input"; input: BrowserInput }
  | { type: "act"; id: number; action: string; params?: Record<string, unknown> }
  | { type: "drawer"; console_after?: number; network_after?: number }
  | { type: "take" | "give" | "away" | "back" | "copy" | "cut" | "stop" | "restart" | "reset" };
export type BrowserUpdate =
  | { type: "state"; state: BrowserState }
  | { type: "result"; id: number; result: BrowserResult }
  | { type: "console"; lines: BrowserLine[] }
  | { type: "network"; requests: BrowserRequest[] }
  | { type: "clipboard"; text: string }
  | { type: "error"; message: string };
export type BrowserFrame = { id: number; sharp: boolean; time: number; jpeg: Uint8Array<ArrayBuffer> };

/** The longest text that is pasted into a page, in bytes of UTF-8: core.MaxBrowserPaste. */
export const MAX_PASTE = 1 << 20;

export const firstView: BrowserView = { width: 1280, height: 800, scale: 1, mobile: false, dark: false, network: "", zoom: 1 };

const MAX_LIST = 1000;
const HEADER = 16;
const SHARP = 1;

type Fields = Record<string, unknown>;
const fields = (v: unknown): Fields => (typeof v === "object" && v !== null && !Array.isArray(v) ? (v as Fields) : {});
const text = (v: unknown): string => (typeof v === "string" ? v : "");
const num = (v: unknown): number => (typeof v === "number" && Number.isFinite(v) ? v : 0);
const yes = (v: unknown): boolean => v === true;
const list = <T>(v: unknown, each: (f: Fields) => T): T[] => (Array.isArray(v) ? v.slice(0, MAX_LIST).map((x) => each(fields(x))) : []);
const oneOf = <T extends string>(v: unknown, all: readonly T[], other: T): T => all.find((x) => x === v) ?? other;

const box = (f: Fields) => ({ x: num(f.x), y: num(f.y), width: num(f.width), height: num(f.height) });

/** An icon only as an image in the address itself: nothing is fetched for it. */
const icon = (v: unknown) => (/^data:image\/[\w.+-]+;base64,/.test(text(v)) ? text(v) : "");

/** A web address, or nothing: a person opens it by one click. */
const web = (v: unknown) => (/^https?:\/\//i.test(text(v)) ? text(v) : "");
const CURSOR = /^[a-z-]{1,20}$/;

const tab = (f: Fields): BrowserTab => ({
  target_id: text(f.target_id), title: text(f.title), url: text(f.url), icon: icon(f.icon), active: yes(f.active), loading: yes(f.loading), crashed: yes(f.crashed),
  back: yes(f.back), forward: yes(f.forward),
});

function look(v: unknown): BrowserText | null {
  const f = fields(v);
  const color = /^#[0-9a-f]{6}$/i.test(text(f.color)) ? text(f.color) : "";
  return color ? { size: num(f.size), color, contrast: num(f.contrast) } : null;
}

function target(v: unknown): BrowserTarget | null {
  if (typeof v !== "object" || v === null) return null;
  const f = fields(v);
  return { role: text(f.role), name: text(f.name), selector: text(f.selector), ref: num(f.ref), text: look(f.text), ...box(f) };
}

function view(v: unknown): BrowserView {
  const f = fields(v);
  return {
    width: num(f.width) || firstView.width, height: num(f.height) || firstView.height, scale: num(f.scale) || 1, mobile: yes(f.mobile), dark: yes(f.dark),
    network: oneOf(f.network, ["", "offline", "slow"], ""), zoom: num(f.zoom) || 1,
  };
}

function popup(v: unknown): BrowserPopup | null {
  const f = fields(v);
  const kind = oneOf(f.kind, ["select", "input", "menu", ""], "");
  if (kind === "") return null;
  return {
    id: num(f.id), kind, ...box(f), input: oneOf(f.input, ["color", "date", "month", "week", "time", "datetime-local"], "date"), value: text(f.value), link: web(f.link), editable: yes(f.editable),
    options: list(f.options, (o) => ({ label: text(o.label), group: text(o.group), disabled: yes(o.disabled), chosen: yes(o.chosen) })),
  };
}

const chooser = (v: unknown): BrowserChooser | null => (v ? { multiple: yes(fields(v).multiple), accept: text(fields(v).accept).slice(0, 500) } : null);
const download = (f: Fields): BrowserDownload => ({
  id: text(f.id), name: text(f.name), bytes: num(f.bytes), total: num(f.total), state: oneOf(f.state, ["running", "done", "refused"], "refused"), path: text(f.path), why: text(f.why), at: num(f.at),
});
const port = (f: Fields): BrowserPort => ({ port: num(f.port), url: web(f.url), process: text(f.process) });

function state(v: unknown): BrowserState {
  const f = fields(v);
  const failure = fields(f.failure);
  const dialog = fields(f.dialog);
  const deed = fields(f.deed);
  return {
    phase: oneOf(f.phase, ["idle", "starting", "running", "crashed", "off"], "idle"), step: text(f.step), sinceMs: num(f.since_ms),
    failure: f.failure ? { code: text(failure.code) || "internal", cause: text(failure.cause), remedy: text(failure.remedy), ...(failure.detail ? { detail: text(failure.detail) } : {}) } as Failure : null,
    driver: oneOf(f.driver, ["nobody", "agent", "person"], "nobody"), waitingMs: num(f.waiting_ms), tabs: list(f.tabs, tab),
    dialog: f.dialog ? { kind: text(dialog.kind), message: text(dialog.message), default: text(dialog.default) } : null,
    deed: f.deed ? { text: text(deed.text), at: num(deed.at), ok: yes(deed.ok), target: target(deed.target) } : null,
    errors: num(f.errors), requests: num(f.requests), view: view(f.view), notices: Array.isArray(f.notices) ? f.notices.map(text) : [],
    popup: popup(f.popup), cursor: CURSOR.test(text(f.cursor)) ? text(f.cursor) : "", chooser: chooser(f.chooser), downloads: list(f.downloads, download), ports: list(f.ports, port).filter((x) => x.url !== ""),
    mode: oneOf(f.mode, ["docker", "host"], "docker"),
  };
}

/** Reads one message; null for anything that is none. */
export function readUpdate(raw: string): BrowserUpdate | null {
  let f: Fields;
  try {
    f = fields(JSON.parse(raw));
  } catch {
    return null;
  }
  switch (f.type) {
    case "state":
      return { type: "state", state: state(f.state) };
    case "result": {
      const r = fields(f.result);
      return { type: "result", id: num(f.id), result: { result: text(r.result), error: text(r.error), image: text(r.image), target: target(r.target) } };
    }
    case "console":
      return { type: "console", lines: list(f.lines, (l) => ({ seq: num(l.seq), time: num(l.time), level: text(l.level), text: text(l.text), source: text(l.source) })) };
    case "network":
      return {
        type: "network",
        requests: list(f.requests, (r) => ({
          seq: num(r.seq), rev: num(r.rev), time: num(r.time), method: text(r.method), url: text(r.url), kind: text(r.kind), status: num(r.status), error: text(r.error), bytes: num(r.bytes), ms: num(r.ms),
        })),
      };
    case "clipboard":
      return { type: "clipboard", text: text(f.text) };
    case "error":
      return { type: "error", message: text(f.message) };
  }
  return null;
}

/** Reads a frame; null where the header is not whole or no JPEG follows it. */
export function readFrame(data: Uint8Array): BrowserFrame | null {
  if (data.length < HEADER + 2 || data[HEADER] !== 0xff || data[HEADER + 1] !== 0xd8) return null;
  const head = new DataView(data.buffer, data.byteOffset, HEADER);
  return { id: head.getUint32(0), sharp: (head.getUint32(4) & SHARP) !== 0, time: head.getFloat64(8), jpeg: data.subarray(HEADER) as Uint8Array<ArrayBuffer> };
}
