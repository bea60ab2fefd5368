// One terminal on the screen, without React: xterm.js, its addons and its client.
// model/terminals/pane.ts decides the state and the effects after each event.
import { FitAddon } from "@xterm/addon-fit";
import { ImageAddon } from "@xterm/addon-image";
import { ProgressAddon } from "@xterm/addon-progress";
import { SearchAddon } from "@xterm/addon-search";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import { Terminal } from "@xterm/xterm";
import { dialTerminal } from "../../api/terminals";
import type { TerminalCreate } from "../../api/types";
import type { ClientState } from "../../model/terminals/client";
import type { Pane, PaneEffect, PaneEvent } from "../../model/terminals/pane";
import { paneStep, startPane } from "../../model/terminals/pane";
import { TerminalClient } from "../../model/terminals/protocol";
import { cleanTitle } from "../../model/terminals/titles";
import { isFocusReport, isReport, swallowQueries } from "./answers";
import { beep } from "./bell";
import type { KeptCommand } from "./commands";
import { ShellMarks } from "./commands";
import { guardParser, WholeCharacters } from "./guard";
import { guardIme, imeEngine } from "./ime";
import type { Target } from "../../session/linktargets";
import { addLinks, inside, linkHandler } from "./links";
import type { TerminalSettings } from "./props";
import { stopReports } from "./core";
import { Drawing } from "./drawing";
import { terminalOptions } from "./options";
import { recoverAtEnd, recoverAtPrompt } from "./recovery";
import { useBestRenderer } from "./renderer";
import { ScrollKeeper } from "./scroll";
import { loadSymbols, onThemeChange, terminalTheme, toldColors } from "./theme";

const FIT_MS = 80;
const [COLS, ROWS] = [80, 24];

/** The calls of a pane to the page around it. */
export type PaneEvents = {
  onChange(p: Pane): void;
  onSelection(text: string): void;
  onCopied(text: string, primary: boolean): void; // a program copied by OSC 52
  onSent(data: string | Uint8Array): void; // the person typed or pasted
  attended(): boolean; // whether the person looks at the pane
  follow(t: Target, edit: boolean): void;
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

export class TerminalPane {
  readonly term: Terminal;
  readonly search = new SearchAddon({ highlightLimit: 2000 });
  readonly scroll: ScrollKeeper;
  readonly shell: ShellMarks;
  readonly client: TerminalClient;
  private fitter = new FitAddon();
  private encoder = new TextEncoder();
  private whole = new WholeCharacters();
  private drawing = new Drawing();
  private cleanups: (() => void)[] = [];
  private fitTimer: ReturnType<typeof setTimeout> | undefined;
  private timers = new Map<PaneEvent["type"], ReturnType<typeof setTimeout>>();
  private opened = false;
  private backTo = 0; // lines from the bottom
  private kept: KeptCommand[] = [];
  private focusEvent = false;
  private gone = false;
  private now: Pane;

  constructor(private o: PaneOptions) {
    const { events: ev, settings } = o;
    this.now = startPane(o.visible);
    const tell = (e: PaneEvent) => this.tell(e);
    const onLink = (link: Pane["link"]) => tell({ type: "link", link: link && inside(o.host, link) });
    const links = linkHandler(o.mac, ev.follow, onLink);
    const term = (this.term = new Terminal({ ...terminalOptions(settings), cols: COLS, rows: ROWS, linkHandler: links }));
    term.loadAddon(this.fitter);
    term.loadAddon(this.search);
    term.loadAddon(new Unicode11Addon());
    term.unicode.activeVersion = "11";
    addLinks(term, o.mac, links, ev.follow, onLink);
    const progress = new ProgressAddon();
    term.loadAddon(progress);
    progress.onChange((p) => tell({ type: "progress", progress: p }));
    term.loadAddon(new ImageAddon({ enableSizeReports: false, pixelLimit: 4_000_000, storageLimit: 32, sixelSizeLimit: 8_000_000, iipSizeLimit: 8_000_000 }));
    this.shell = new ShellMarks(term, {
      onPrompt: () => tell({ type: "prompt" }),
      onRun: () => tell({ type: "command" }),
      onDir: (text) => tell({ type: "dir", text }),
    });
    this.scroll = new ScrollKeeper(term, () => tell({ type: "behind", behind: this.scroll.behind }));
    term.parser.registerOscHandler(52, (data) => {
      tell({ type: "clipboard", data });
      return true;
    });
    swallowQueries(term);
    guardParser(term, () => tell({ type: "lost", at: performance.now() }));
    term.onTitleChange((title) => tell({ type: "title", text: cleanTitle(title) }));
    term.onBell(() => tell({ type: "bell", attended: ev.attended(), sound: this.o.settings.bellSound }));
    term.onData((d) => this.onData(d));
    term.onBinary((d) => this.send(Uint8Array.from(d, (c) => c.charCodeAt(0)), "report"));
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
        write: (data, parsed) => term.write(this.drawing.wrote(this.whole.take(data)), parsed),
        resize: (cols, rows) => term.write("", () => term.resize(cols, rows)),
        drawn: () => this.drawn(),
      },
      onChange: (s) => this.onClient(s),
      onNotice: (text, typed) => tell(typed ? { type: "unsent", text } : { type: "notice", text }),
    });
    const watch = new ResizeObserver(() => this.onBox());
    watch.observe(o.host);
    term.onWriteParsed(() => tell({ type: "output" }));
    const look = () => tell({ type: "sight", hidden: document.hidden });
    document.addEventListener("visibilitychange", look);
    this.cleanups.push(() => watch.disconnect(), () => document.removeEventListener("visibilitychange", look), onThemeChange(() => { term.options.theme = terminalTheme(); this.client.recolor(); }));
    this.open();
  }

  /** Opens the terminal once its font is loaded: cells measured with another font would give a wrong size. */
  private async open() {
    const { host, settings } = this.o;
    const fonts = Promise.all([document.fonts.load(`${settings.fontSize}px "JetBrains Mono Variable"`), loadSymbols(settings.fontSize)]);
    await Promise.race([fonts, new Promise((r) => setTimeout(r, 300))]).catch(() => undefined); // after that the fallback font will do
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
    this.cleanups.push(this.drawing.watch(this.term));
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
    for (const timer of this.timers.values()) clearTimeout(timer);
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
    if (visible) this.propose();
    this.tell({ type: "show", visible });
  }

  private onBox() {
    this.tell({ type: "box", seen: this.o.host.clientWidth > 0 });
    this.fit();
  }

  /** Applies an event, carries out its effects, and tells the page if the state changed. */
  tell(e: PaneEvent) {
    const before = this.now;
    const [next, effects] = paneStep(before, e);
    this.now = next;
    for (const effect of effects) this.act(effect);
    if (next !== before && !this.gone) this.o.events.onChange(this.now);
  }

  private act(e: PaneEffect) {
    switch (e.do) {
      case "later":
        clearTimeout(this.timers.get(e.event.type));
        this.timers.set(e.event.type, setTimeout(() => this.tell(e.event), e.ms));
        return;
      case "never":
        return clearTimeout(this.timers.get(e.event));
      case "keep":
        this.kept = this.shell.keep();
        this.backTo = this.scroll.distance();
        return;
      case "recover":
        if (recoverAtPrompt(this.term)) this.tell({ type: "leak" });
        return;
      case "stop-reports":
        return stopReports(this.term);
      case "show":
        return this.client.show(e.visible);
      case "resync":
        return this.client.resync();
      case "beep":
        return beep();
      case "insert":
        return this.term.paste(e.text);
      case "copied":
        return this.o.events.onCopied(e.text, e.primary);
    }
  }

  /** Asks for the size that fits, after a pause. A pane that is not on the screen asks for none. */
  fit() {
    clearTimeout(this.fitTimer);
    this.fitTimer = setTimeout(() => this.propose(), FIT_MS);
  }

  private propose() {
    if (!this.opened || this.gone || this.o.host.clientWidth === 0 || this.o.host.clientHeight === 0) return;
    const d = this.fitter.proposeDimensions();
    if (d && Number.isFinite(d.cols + d.rows)) this.client.resize(Math.min(d.cols, 1000), Math.min(d.rows, 500));
  }

  /** Types text as the person would. */
  type(data: string) {
    this.term.input(data, true);
  }

  /** Sends bytes from another pane to the program, without telling the page. */
  inject(data: string | Uint8Array) {
    this.send(typeof data === "string" ? this.encoder.encode(data) : data, "injected");
  }

  private onData(data: string) {
    // xterm.js also reports the focus when a program turns such reports on, without a change of the focus.
    if (isFocusReport(data) && !this.focusEvent) return;
    this.drawing.keyed();
    this.send(this.encoder.encode(data), isReport(data) ? "report" : "typed", data);
  }

  private send(bytes: Uint8Array, how: "typed" | "injected" | "report", text?: string) {
    if (!this.client.input(bytes)) {
      if (how !== "report") this.tell({ type: "unsent" }); // nobody misses a move of the mouse
    } else if (how === "typed") this.o.events.onSent(text ?? bytes);
  }

  private fresh(cols: number, rows: number) {
    const { term } = this;
    this.whole = new WholeCharacters(); // an incomplete character must not reach the new picture
    // The reset keeps its place among the writes. The old picture stays until the new one is whole.
    term.write("", () => {
      this.tell({ type: "snapshot" });
      this.shell.clear();
      term.reset();
      term.resize(cols, rows);
    });
    term.write("\u001b[?2026h");
  }

  private drawn() {
    this.term.write("\u001b[?2026l", () => {
      this.shell.restore(this.kept);
      this.kept = [];
      this.tell({ type: "drawn", running: this.shell.marks.isRunning() });
      this.scroll.goBack(this.backTo);
      this.backTo = 0;
      this.tell({ type: "behind", behind: this.scroll.behind });
    });
  }

  private onClient(client: ClientState) {
    if (client.state === "ended") {
      recoverAtEnd(this.term);
      this.term.write("", () => this.shell.end(client.exit)); // after the last output
    }
    this.tell({ type: "client", client });
  }
}
