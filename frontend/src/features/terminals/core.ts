// The few inner parts of xterm.js 6.0.0 that the page needs and its interface does not
// offer. The version is pinned, and xterm.test.ts fails if a part is missing.
import type { Terminal } from "@xterm/xterm";

/* eslint-disable no-underscore-dangle -- xterm.js names them so */
type Core = {
  coreMouseService: { activeProtocol: string; activeEncoding: string };
  coreService: { decPrivateModes: { sendFocus: boolean; bracketedPasteMode: boolean; applicationCursorKeys: boolean } };
  _selectionService?: Selection;
  _renderService?: { dimensions: { css: { cell: { width: number; height: number } } }; _renderDebouncer: { _coreBrowserService: { window: Frames } } };
};
type Selection = { readonly hasSelection: boolean; refresh(byMouse?: boolean): void };
/** What xterm.js asks for a frame to draw in. */
export type Frames = Pick<Window, "requestAnimationFrame" | "cancelAnimationFrame">;

function core(term: Terminal): Core {
  return (term as unknown as { _core: Core })._core;
}

/** The size of a cell in CSS pixels; zero before the first drawing. */
export function cellSize(term: Terminal): { width: number; height: number } {
  return core(term)._renderService?.dimensions.css.cell ?? { width: 0, height: 0 };
}

/** Has an open terminal draw its rows and its scroll bar in the frames of another. False if it cannot. */
export function drawIn(term: Terminal, frames: Frames): boolean {
  const drawing = core(term)._renderService?._renderDebouncer;
  if (!drawing?._coreBrowserService?.window) return false;
  drawing._coreBrowserService = { window: frames };
  return true;
}

/** Ends that an open terminal draws all rows anew after each line, for a selection that is not there. False if it cannot. */
export function drawSelectionOnly(term: Terminal): boolean {
  const selection = core(term)._selectionService;
  if (!selection?.refresh) return false;
  const refresh = selection.refresh.bind(selection);
  let drawn = true;
  selection.refresh = (byMouse) => {
    if (drawn || selection.hasSelection) refresh(byMouse);
    drawn = selection.hasSelection;
  };
  return true;
}

export function reportsMouse(term: Terminal): boolean {
  return core(term).coreMouseService.activeProtocol !== "NONE";
}

export function reportsFocus(term: Terminal): boolean {
  return core(term).coreService.decPrivateModes.sendFocus;
}

/** Ends mouse and focus reports at once, in the middle of parsing. Later bytes of the same write may turn them on again. */
export function stopReports(term: Terminal) {
  const c = core(term);
  c.coreMouseService.activeProtocol = "NONE";
  c.coreMouseService.activeEncoding = "DEFAULT";
  c.coreService.decPrivateModes.sendFocus = false;
}
