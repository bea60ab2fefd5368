// The session answers each query of a program once, however many panes show it. So this
// page must not send the answers that xterm.js would give by itself.
import type { IDisposable, Terminal } from "@xterm/xterm";

/** Registers handlers that swallow queries. Call it after all addons: the last handler is asked first. */
export function swallowQueries(term: Terminal): IDisposable[] {
  const p = term.parser;
  const swallow = () => true;
  const csi = [
    { final: "c" }, { prefix: ">", final: "c" }, { prefix: "=", final: "c" }, // DA1 DA2 DA3
    { final: "n" }, { prefix: "?", final: "n" }, // DSR
    { intermediates: "$", final: "p" }, { prefix: "?", intermediates: "$", final: "p" }, // DECRQM
    { prefix: ">", final: "q" }, // XTVERSION
    { prefix: "?", final: "u" }, // kitty keyboard
    { prefix: "?", final: "S" }, // graphics attributes
    { final: "x" }, { intermediates: "*", final: "y" }, // DECREQTPARM DECRQCRA
    { final: "t" }, { prefix: ">", final: "t" }, // window operations and reports
  ];
  const asks = (data: string) => data.split(";").includes("?");
  return [
    ...csi.map((id) => p.registerCsiHandler(id, swallow)),
    ...[4, 5, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19].map((n) => p.registerOscHandler(n, asks)),
    p.registerDcsHandler({ intermediates: "$", final: "q" }, swallow), // DECRQSS
    p.registerDcsHandler({ intermediates: "+", final: "q" }, swallow), // XTGETTCAP
  ];
}

const FOCUS = /^\u001b\[[IO]$/; // eslint-disable-line no-control-regex -- reports begin with ESC

export function isFocusReport(data: string): boolean {
  return FOCUS.test(data);
}

/** Whether data is a report of mouse or focus. Such a report belongs to this pane and does not go to others. */
export function isReport(data: string): boolean {
  return FOCUS.test(data) || data.startsWith("\u001b[M") || data.startsWith("\u001b[<");
}
