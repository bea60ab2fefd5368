// Plays a recording on an xterm.js of its own. It sends nothing anywhere.
import { Unicode11Addon } from "@xterm/addon-unicode11";
import { SerializeAddon } from "@xterm/addon-serialize";
import { Terminal } from "@xterm/xterm";
import type { Cast, CastEvent } from "../../model/terminals/cast";
import { CastClock, castSize } from "../../model/terminals/cast";
import { swallowQueries } from "./answers";
import { guardParser } from "./guard";
import { terminalOptions } from "./options";
import type { TerminalSettings } from "./props";
import { onThemeChange, terminalTheme } from "./theme";

const KEEP_EVERY = 4 * 1024 * 1024; // characters of output between two kept pictures

type Kept = { next: number; at: number; cols: number; rows: number; screen: string };

export class CastPlayer {
  readonly clock: CastClock;
  readonly term: Terminal;
  private serializer = new SerializeAddon();
  private kept: Kept[] = [];
  private since = 0;
  private frame = 0;
  private last = 0;
  private busy = false; // a seek is being drawn
  private stopTheme: () => void;

  constructor(cast: Cast, host: HTMLElement, settings: TerminalSettings, private onTick: () => void) {
    this.clock = new CastClock(cast);
    const term = (this.term = new Terminal({ ...terminalOptions({ ...settings, screenReader: false }), cols: cast.cols, rows: cast.rows, disableStdin: true, cursorBlink: false, linkHandler: { activate: () => {} } }));
    term.loadAddon(this.serializer);
    term.loadAddon(new Unicode11Addon());
    term.unicode.activeVersion = "11";
    swallowQueries(term);
    guardParser(term, () => {}); // the next seek brings lost output back
    term.attachCustomKeyEventHandler(() => false); // the player handles all keys
    term.open(host);
    if (term.textarea) term.textarea.disabled = true;
    this.stopTheme = onThemeChange(() => (term.options.theme = terminalTheme()));
  }

  play(on: boolean) {
    const { clock } = this;
    if (on && clock.position >= clock.cast.duration) this.seek(0);
    clock.playing = on;
    cancelAnimationFrame(this.frame);
    if (on) {
      this.last = performance.now();
      this.frame = requestAnimationFrame(this.step);
    }
    this.onTick();
  }

  seek(to: number) {
    const was = this.clock.next;
    let { anew, events } = this.clock.seek(to);
    if (anew) {
      // Drawing begins at the last kept picture before the moment.
      const from = this.kept.findLast((k) => k.next <= this.clock.next);
      this.term.write("", () => {
        this.term.reset();
        this.term.resize(from?.cols ?? this.clock.cast.cols, from?.rows ?? this.clock.cast.rows);
      });
      if (from) {
        this.term.write(from.screen);
        events = events.slice(from.next);
      }
      this.since = 0;
    } else events = this.clock.cast.events.slice(was, this.clock.next);
    this.busy = true;
    this.draw(events);
    this.term.write("", () => (this.busy = false));
    this.onTick();
  }

  dispose() {
    cancelAnimationFrame(this.frame);
    this.stopTheme();
    this.term.dispose();
  }

  private step = (now: number) => {
    const { clock } = this;
    if (!this.busy) this.draw(clock.advance(Math.min(0.5, (now - this.last) / 1000)));
    this.last = now;
    this.onTick();
    if (clock.playing) this.frame = requestAnimationFrame(this.step);
  };

  private draw(events: CastEvent[]) {
    let text = "";
    const flush = () => {
      if (text) this.term.write(text);
      text = "";
    };
    for (const e of events) {
      if (e.kind === "o") {
        text += e.data;
        this.since += e.data.length;
      } else if (e.kind === "r") {
        const size = castSize(e.data);
        flush();
        if (size) this.term.write("", () => this.term.resize(size.cols, size.rows));
      }
      if (text.length > 1 << 20) flush();
    }
    flush();
    if (this.since >= KEEP_EVERY && !this.kept.some((k) => k.next >= this.clock.next)) {
      this.since = 0;
      const { next, position: at } = this.clock;
      this.term.write("", () => {
        this.kept.push({ next, at, cols: this.term.cols, rows: this.term.rows, screen: this.serializer.serialize() });
        this.kept.sort((a, b) => a.next - b.next);
      });
    }
  }
}
