// Where a page lies in its pane, and which point of the page a point of the pane is.
import type { BrowserView } from "../../api/browser-messages";

export type Box = { x: number; y: number; width: number; height: number };

/** The device frames of the view menu. Fit has the size of the pane. */
export const DEVICES = [
  { id: "fit", name: "Fit", width: 0, height: 0, mobile: false },
  { id: "phone", name: "Phone", width: 390, height: 844, mobile: true },
  { id: "tablet", name: "Tablet", width: 820, height: 1180, mobile: true },
  { id: "laptop", name: "Laptop", width: 1280, height: 800, mobile: false },
] as const;
export type DeviceID = (typeof DEVICES)[number]["id"];

const MIN = 160;
const FRAME = 12; // pixels around a device

/** The viewport of a page in its own CSS pixels: a zoom leaves it fewer. */
export function viewportOf(view: Pick<BrowserView, "width" | "height" | "zoom">): { width: number; height: number } {
  const by = view.zoom || 1;
  return { width: Math.max(1, Math.round(view.width / by)), height: Math.max(1, Math.round(view.height / by)) };
}

/** The view of a device in a pane of a size, with the rest of an earlier view. */
export function viewOf(device: DeviceID, pane: { width: number; height: number }, ratio: number, rest: BrowserView): BrowserView {
  const d = DEVICES.find((x) => x.id === device) ?? DEVICES[0];
  const width = d.width || Math.max(MIN, Math.round(pane.width));
  const height = d.height || Math.max(MIN, Math.round(pane.height));
  return { ...rest, width, height, mobile: d.mobile, scale: Math.min(2, Math.max(1, ratio)) };
}

/** The box of the page in the pane: as large as fits, never larger than it is, in the middle. A device has room around it. */
export function placed(view: { width: number; height: number }, pane: { width: number; height: number }, framed = false): Box {
  const room = framed && pane.width > 6 * FRAME && pane.height > 6 * FRAME ? FRAME : 0;
  const by = Math.min(1, (pane.width - 2 * room) / view.width, (pane.height - 2 * room) / view.height);
  const width = view.width * by;
  return { x: Math.max(0, (pane.width - width) / 2), y: room, width, height: view.height * by };
}

/** How large the page is drawn, in percent. */
export const percentOf = (box: Box, view: { width: number }) => Math.round((box.width / view.width) * 100);

export const ZOOMS = [0.5, 0.67, 0.75, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 3] as const;

/** The next zoom up or down. */
export function zoomStep(now: number, by: 1 | -1): number {
  const next = by > 0 ? ZOOMS.find((z) => z > now + 0.001) : ZOOMS.findLast((z) => z < now - 0.001);
  return next ?? now;
}

/** The point of the page, in its CSS pixels; null beside the page. Beside it counts as its edge while a button is down. */
export function pointOf(at: { x: number; y: number }, box: Box, view: { width: number; height: number }, held: boolean): { x: number; y: number } | null {
  const x = ((at.x - box.x) / box.width) * view.width;
  const y = ((at.y - box.y) / box.height) * view.height;
  if (!held && (x < 0 || y < 0 || x >= view.width || y >= view.height)) return null;
  return { x: Math.min(view.width - 1, Math.max(0, x)), y: Math.min(view.height - 1, Math.max(0, y)) };
}

/** An address as the bar shows it: the part that a person reads by is apart. */
export function addressParts(url: string): { chip: "" | "preview"; host: string; rest: string } {
  if (url === "" || url === "about:blank") return { chip: "", host: "", rest: "" };
  const m = /^([a-z][a-z0-9+.-]*:)\/\/(?:[^/?#@]*@)?(\[[0-9a-f:.]+\]|[^/?#:]*)(:\d+)?([^]*)$/i.exec(url);
  if (!m) return { chip: "", host: url, rest: "" };
  const [, scheme = "", name = "", port = "", rest = ""] = m;
  const inside = /^(localhost|127(\.\d+){3}|\[::1\]|.*\.localhost|preview\.[^.]+)$/i.test(name);
  return { chip: inside ? "preview" : "", host: (/^https?:$/i.test(scheme) ? "" : scheme) + name + port, rest: rest === "/" ? "" : rest };
}
