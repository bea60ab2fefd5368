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

/** The view of a device in a pane of a size, with the rest of an earlier view. */
export function viewOf(device: DeviceID, pane: { width: number; height: number }, ratio: number, rest: BrowserView): BrowserView {
  const d = DEVICES.find((x) => x.id === device) ?? DEVICES[0];
  const width = d.width || Math.max(MIN, Math.round(pane.width));
  const height = d.height || Math.max(MIN, Math.round(pane.height));
  return { ...rest, width, height, mobile: d.mobile, scale: Math.min(2, Math.max(1, ratio)) };
}

/** The box of the page in the pane: as large as fits, never larger than it is, at the top and in the middle. */
export function placed(view: { width: number; height: number }, pane: { width: number; height: number }): Box {
  const by = Math.min(1, pane.width / view.width, pane.height / view.height);
  const width = view.width * by;
  return { x: Math.max(0, (pane.width - width) / 2), y: 0, width, height: view.height * by };
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
