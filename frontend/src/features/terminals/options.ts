import type { ITerminalOptions } from "@xterm/xterm";
import type { TerminalSettings } from "./props";
import { fontStack, terminalTheme } from "./theme";

export function terminalOptions(s: TerminalSettings): ITerminalOptions {
  return {
    allowProposedApi: true, theme: terminalTheme(), logLevel: "off",
    fontFamily: fontStack(s.fontFamily), fontSize: s.fontSize, lineHeight: s.lineHeight, fontWeight: "400", fontWeightBold: "700",
    scrollback: s.scrollback, cursorBlink: s.cursorBlink, cursorInactiveStyle: "outline", minimumContrastRatio: s.minimumContrast,
    screenReaderMode: s.screenReader, macOptionIsMeta: s.macOptionIsMeta, macOptionClickForcesSelection: true,
    rescaleOverlappingGlyphs: true, overviewRuler: { width: 10 }, scrollOnUserInput: true, rightClickSelectsWord: false, windowOptions: {},
  };
}
