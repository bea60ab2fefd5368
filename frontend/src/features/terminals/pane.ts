// One terminal on the screen: xterm.js, its addons, its client. No React.
import { FitAddon } from "@xterm/addon-fit";
import { ImageAddon } from "@xterm/addon-image";
import { ProgressAddon } from "@xterm/addon-progress";
import { SearchAddon } from "@xterm/addon-search";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import type { ITerminalOptions } from "@xterm/xterm";
import { Terminal } from "@xterm/xterm";
import { dialTerminal } from "../../api/terminals";
import type { TerminalCreate } from "../../api/types";
import type { ClientState } from "../../model/terminals/client";
import type { FileRef, LinkHint } from "../../model/terminals/filelinks";
import { parseOsc52 } from "../../model/terminals/osc52";
import { TerminalClient } from "../../model/terminals/protocol";
import { cleanTitle } from "../../model/terminals/titles";
import { isFocusReport, isReport, swallowQueries } from "./answers";
import type { KeptCommand } from "./commands";
import { ShellMarks } from "./commands";
import { guardParser, WholeCharacters } from "./guard";
import { guardIme, imeEngine } from "./ime";
import { addLinks, linkHandler } from "./links";
import type { TerminalSettings } from "./props";
import { stopReports } from "./core";
import { recoverAtEnd, recoverAtPrompt } from "./recovery";
import { useBestRenderer } from "./renderer";
import { ScrollKeeper } from "./scroll";
import { fontStack, onThemeChange, terminalTheme, toldColors } from "./theme";

const FIT_MS = 80;
const AWAY_MS = 1500; // a window that is out of sight for longer; its timers are too slow to keep up
const [COLS, ROWS] = [80, 24];

export type PaneEvents = {
  onClient(s: ClientState): void;
  onDrawn(): void;
  onTitle(title: string): void;
  onDir(dir: string): void;
  onBell(): void;
  onProgress(p: { state: 0 | 1 | 2 | 3 | 4; value: number }): void;
  onBehind(behind: boolean): void;
  onUnseen(unseen: boolean): void; // output came while the pane was behind another
  onSelection(text: string): void;
  onLink(h: LinkHint): void;
  onFile(f: FileRef): void; // to be shown
  onNotice(text: string): void;
  onCopied(text: string, primary: boolean): void; // by a program, OSC 52
  onSent(data: string | Uint8Array): void; // typed or pasted by the person
  openURL(url: string): void;
};

export type PaneOptions = {
  host: HTMLElement;
  at(): Promise<{ base: string; token: string }>;
  want: { sessionId: string } | { create: TerminalCreate };
  settings: TerminalSettings;
  visible: boolean;
  mac: boolean;
  events: PaneEvents;
};

export function terminalOptions(s: TerminalSettings): ITerminalOptions {
  return {
    allowProposedApi: true, theme: terminalTheme(), logLevel: "off",
    fontFamily: fontStack(s.fontFamily), fontSize: s.fontSize, lineHeight: s.lineHeight, fontWeight: "400", fontWeightBold: "700",
    scrollback: s.scrollback, cursorBlink: s.cursorBlink, cursorInactiveStyle: "outline", minimumContrastRatio: s.minimumContrast,
    screenReaderMode: s.screenReader, macOptionIsMeta: s.macOptionIsMeta, macOptionClickForcesSelection: true,
    rescaleOverlappingGlyphs: true, overviewRuler: { width: 10 }, scrollOnUserInput: true, rightClickSelectsWord: false, windowOptions: {},
  };
}

export class TerminalPane {
  readonly term: Terminal;
  readonly search = new SearchAddon({ highlightLimit: 2000 });
  readonly scroll: ScrollKeeper;
  readonly shell: ShellMarks;
  readonly client: TerminalClient;
  private fitter = new FitAddon();
  private encoder = new TextEncoder();
  private whole = new WholeCharacters();
  private cleanups: (() => void)[] = [];
  private fitTimer: ReturnType<typeof setTimeout> | undefined;
  private sightTimer: ReturnType<typeof setTimeout> | undefined;
  private opened = false;
  private loading = true; // a snapshot is being drawn: nothing in it happens now
  private backTo = 0;
  private kept: KeptCommand[] = [];
  private leaked = false; // reports were ended at the prompt that still waits
  private seen = true; // on the screen
  private focusEvent = false;
  private gone = false;
  private brokenAt = -Infinity;

  constructor(private o: PaneOptions) {
    const { events: ev, settings } = o;
    const links = linkHandler(o.mac, ev.openURL, ev.onLink);
    const term = (this.term = new Terminal({ ...terminalOptions(settings), cols: COLS, rows: ROWS, linkHandler: links }));
    term.loadAddon(this.fitter);
    term.loadAddon(this.search);
    term.loadAddon(new Unicode11Addon());
    term.unicode.activeVersion = "11";
    addLinks(term, o.mac, links, ev.onFile, ev.onLink);
    const progress = new ProgressAddon();
    term.loadAddon(progress);
    progress.onChange((p) => ev.onProgress(p));
    term.loadAddon(new ImageAddon({ enableSizeReports: false, pixelLimit: 4_000_000, storageLimit: 32, sixelSizeLimit: 8_000_000, iipSizeLimit: 8_000_000 }));
    this.shell = new ShellMarks(term, {
      onPrompt: () => !this.loading && (this.leaked = recoverAtPrompt(term) || this.leaked),
      onRun: () => !this.loading && (this.leaked = false),
      onDir: ev.onDir,
    });
    this.scroll = new ScrollKeeper(term, () => ev.onBehind(this.scroll.behind));
    term.parser.registerOscHandler(52, (data) => this.onClipboard(data));
    swallowQueries(term);
    guardParser(term, () => this.onBroken());
    term.onTitleChange((t) => this.loading || ev.onTitle(cleanTitle(t)));
    term.onBell(() => this.loading || ev.onBell());
    term.onData((d) => this.onData(d));
    term.onBinary((d) => this.send(Uint8Array.from(d, (c) => c.charCodeAt(0)), false));
    term.onSelectionChange(() => term.hasSelection() && ev.onSelection(term.getSelection()));
    this.client = new TerminalClient({
      dial: (e) => dialTerminal(o.at, e),
      later: (ms, f) => {
        const t = setTimeout(f, ms);
        return () => clearTimeout(t);
      },
      want: o.want, size: { cols: 0, rows: 0 }, visible: o.visible, colors: toldColors,
      screen: {
        fresh: (cols, rows) => this.fresh(cols, rows),
        write: (data, parsed) => term.write(this.whole.take(data), parsed),
        resize: (cols, rows) => term.write("", () => term.resize(cols, rows)),
        drawn: () => this.drawn(),
      },
      onChange: (s) => this.onClient(s),
      onNotice: ev.onNotice,
    });
    const watch = new ResizeObserver(() => this.onBox());
    watch.observe(o.host);
    term.onWriteParsed(() => this.seen || this.loading || ev.onUnseen(true));
    const look = () => this.onSight();
    document.addEventListener("visibilitychange", look);
    this.cleanups.push(() => watch.disconnect(), () => document.removeEventListener("visibilitychange", look), onThemeChange(() => { term.options.theme = terminalTheme(); this.client.recolor(); }));
    this.open();
  }

  /** Waits for the font: cells measured with another one would give a wrong size. */
  private async open() {
    const { host, settings } = this.o;
    try {
      await Promise.race([document.fonts.load(`${settings.fontSize}px "JetBrains Mono Variable"`), new Promise((r) => setTimeout(r, 300))]);
    } catch {
      // the fallback will do
    }
    if (this.gone) return;
    const mark = (e: FocusEvent) => {
      if (e.target !== this.term.textarea) return;
      this.focusEvent = true;
      setTimeout(() => (this.focusEvent = false));
    };
    host.addEventListener("focus", mark, true);
    host.addEventListener("blur", mark, true);
    const engine = imeEngine();
    if (engine) this.cleanups.push(guardIme(host, this.term, engine));
    this.term.open(host);
    this.opened = true;
    void useBestRenderer(this.term, () => !this.gone).then((end) => (this.gone ? end() : this.cleanups.push(end)));
    this.propose();
    this.client.start();
    if (this.wantsFocus) this.focus();
  }

  private wantsFocus = false;
  focus() {
    this.wantsFocus = true;
    if (this.opened) this.term.focus();
  }

  dispose() {
    this.gone = true;
    clearTimeout(this.fitTimer);
    clearTimeout(this.sightTimer);
    this.client.dispose();
    for (const f of this.cleanups) f();
    this.shell.dispose();
    this.scroll.dispose();
    this.term.dispose();
  }

  configure(s: TerminalSettings) {
    Object.assign(this.term.options, terminalOptions(s));
    this.o.settings = s;
    this.fit();
  }

  show(visible: boolean) {
    this.o.visible = visible;
    if (visible) this.propose();
    this.client.show(visible);
  }

  private onSight() {
    clearTimeout(this.sightTimer);
    if (!document.hidden) this.client.show(this.o.visible);
    else this.sightTimer = setTimeout(() => document.hidden && this.client.show(false), AWAY_MS);
  }

  private onBox() {
    const seen = this.o.host.clientWidth > 0;
    if (seen && !this.seen) this.o.events.onUnseen(false);
    this.seen = seen;
    this.fit();
  }

  /** A pane that was never on the screen has no size to ask for. */
  fit() {
    clearTimeout(this.fitTimer);
    this.fitTimer = setTimeout(() => this.propose(), FIT_MS);
  }

  private propose() {
    if (!this.opened || this.gone || this.o.host.clientWidth === 0 || this.o.host.clientHeight === 0) return;
    const d = this.fitter.proposeDimensions();
    if (d && Number.isFinite(d.cols + d.rows)) this.client.resize(Math.min(d.cols, 1000), Math.min(d.rows, 500));
  }

  /** Types as the person would. */
  type(data: string) {
    this.term.input(data, true);
  }

  /** Bytes from another pane: to the program, and to nobody else. */
  inject(data: string | Uint8Array) {
    this.send(typeof data === "string" ? this.encoder.encode(data) : data, false);
  }

  private onData(data: string) {
    // xterm.js also says where the focus is when a program only turns reports on.
    if (isFocusReport(data) && !this.focusEvent) return;
    this.send(this.encoder.encode(data), !isReport(data), data);
  }

  private send(bytes: Uint8Array, tell: boolean, text?: string) {
    if (this.client.input(bytes)) {
      if (tell) this.o.events.onSent(text ?? bytes);
    } else if (tell && this.client.state.state !== "ended") this.o.events.onNotice("Not sent: the terminal is not connected.");
  }

  private fresh(cols: number, rows: number) {
    const { term } = this;
    this.whole = new WholeCharacters(); // what a snapshot replaces is not gone on with
    // In its place among the writes. The old picture stays until the new one is whole.
    term.write("", () => {
      if (!this.loading) this.kept = this.shell.keep();
      this.backTo = this.loading ? this.backTo : this.scroll.distance();
      this.loading = true;
      this.shell.clear();
      term.reset();
      term.resize(cols, rows);
    });
    term.write("\u001b[?2026h");
  }

  /** xterm.js lost output to an error of its own. Asked again at most every five seconds. */
  private onBroken() {
    if (this.loading || performance.now() - this.brokenAt < 5000) return;
    this.brokenAt = performance.now();
    this.client.resync();
  }

  private drawn() {
    this.term.write("\u001b[?2026l", () => {
      this.loading = false;
      this.shell.restore(this.kept);
      this.kept = [];
      // The session keeps what a killed program left on; at the same prompt it is still not wanted.
      if (this.leaked && !this.shell.marks.isRunning()) stopReports(this.term);
      this.scroll.goBack(this.backTo);
      this.backTo = 0;
      this.o.events.onDrawn();
      this.o.events.onBehind(this.scroll.behind);
    });
  }

  private onClient(s: ClientState) {
    if (s.state === "ended") {
      recoverAtEnd(this.term);
      this.term.write("", () => this.shell.end(s.exit)); // after what was printed last
    }
    this.o.events.onClient(s);
  }

  private onClipboard(data: string): boolean {
    if (this.loading) return true; // an old wish
    const w = parseOsc52(data);
    if (w.kind === "write" && w.text !== "") this.o.events.onCopied(w.text, w.primary);
    else if (w.kind === "too-long") this.o.events.onNotice("A program wanted to put more than 100 KB on the clipboard. It was not let.");
    else if (w.kind === "read") this.o.events.onNotice("A program asked for the clipboard. It was not given.");
    return true;
  }
}
