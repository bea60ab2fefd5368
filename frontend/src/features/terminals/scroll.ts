// Keeps the lines on the screen for a person who scrolled up: while output comes, and while
// a program clears everything and draws it anew.
import type { IDisposable, Terminal } from "@xterm/xterm";

const QUIET_MS = 60; // a redraw without a synchronized block ends when no write has come for so long

type Saved = { line: number; bottom: boolean };

export class ScrollKeeper {
  /** Output has come below the visible lines. */
  behind = false;
  private saved: Saved | null = null;
  private inBlock = false;
  private erased = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private disposables: IDisposable[];

  constructor(private term: Terminal, private onChange: () => void) {
    const p = term.parser;
    this.disposables = [
      p.registerCsiHandler({ prefix: "?", final: "h" }, (params) => {
        if (params.includes(2026) && !this.inBlock) {
          this.inBlock = true;
          this.erased = false;
          this.saved = this.where();
        }
        return false;
      }),
      p.registerCsiHandler({ prefix: "?", final: "l" }, (params) => {
        if (params.includes(2026) && this.inBlock) {
          this.inBlock = false;
          // The microtask runs after the rest of this write and before the next frame.
          if (this.erased) queueMicrotask(() => this.restore());
        }
        return false;
      }),
      p.registerCsiHandler({ final: "J" }, (params) => {
        if (params[0] === 2 || params[0] === 3) this.onErase();
        return false;
      }),
      term.onWriteParsed(() => this.onParsed()),
      term.onScroll(() => this.check()),
    ];
  }

  atBottom(): boolean {
    const b = this.term.buffer.active;
    return b.viewportY >= b.baseY;
  }

  /** Call it after the person scrolled in any way. */
  check() {
    if (this.behind && this.atBottom()) {
      this.behind = false;
      this.onChange();
    }
  }

  /** Goes to the end because the person wants it, and forgets the saved place. */
  follow() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.saved = null;
    this.term.scrollToBottom();
    this.check();
  }

  /** The number of lines between the view and the end, for goBack after a snapshot. */
  distance(): number {
    const b = this.term.buffer.active;
    return b.baseY - b.viewportY;
  }

  goBack(distance: number) {
    if (distance > 0) this.term.scrollToLine(Math.max(0, this.term.buffer.active.baseY - distance));
    else this.term.scrollToBottom();
    this.check();
  }

  dispose() {
    clearTimeout(this.timer);
    for (const d of this.disposables) d.dispose();
  }

  private where(): Saved {
    return { line: this.term.buffer.active.viewportY, bottom: this.atBottom() };
  }

  private onErase() {
    if (this.term.buffer.active.type !== "normal") return;
    if (this.inBlock) this.erased = true;
    else if (!this.atBottom()) {
      this.saved ??= this.where();
      this.arm();
    }
  }

  private arm() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.restore(), QUIET_MS);
  }

  private restore() {
    clearTimeout(this.timer);
    this.timer = undefined;
    const s = this.saved;
    this.saved = null;
    if (!s || this.term.buffer.active.type !== "normal") return;
    if (s.bottom) this.term.scrollToBottom();
    else this.term.scrollToLine(Math.min(s.line, this.term.buffer.active.baseY));
    this.check();
  }

  private onParsed() {
    if (this.timer !== undefined) this.arm();
    if (!this.behind && !this.atBottom()) {
      this.behind = true;
      this.onChange();
    }
  }
}
