// Shell integration on the screen: a mark for each command and its result, jumps between
// commands, and a command's output as text.
import type { IDecoration, IDisposable, IMarker, Terminal } from "@xterm/xterm";
import type { TerminalExit } from "../../api/types";
import type { Command } from "../../model/terminals/marks";
import { CommandMarks, parseMark } from "../../model/terminals/marks";
import { reportedDir } from "../../model/terminals/titles";
import { terminalInk } from "./theme";

type Ran = Command<IMarker>;
/** A command in the form that survives a snapshot: its lines, and the text of its prompt's line. */
export type KeptCommand = { at: number; prompt: string; output: number; end: number; exit: number | null; text: string };
const MAX_COPY = 8 * 1024 * 1024;

export class ShellMarks {
  readonly marks = new CommandMarks<IMarker>();
  private drawn = new Map<number, IDecoration>();
  private jumped: { id: number; top: number } | null = null;
  private disposables: IDisposable[];

  constructor(private term: Terminal, o: { onPrompt(): void; onRun(): void; onDir(dir: string): void }) {
    const p = term.parser;
    const mark = (ident: 133 | 633) => (data: string) => {
      const ev = parseMark(ident, data);
      if (ev) {
        if (ev.kind === "prompt") o.onPrompt();
        const c = this.marks.feed(ev, () => term.registerMarker(0) ?? null);
        if (c) this.draw(c);
        if (c && ev.kind === "output") o.onRun();
      } else if (ident === 633) dir(633)(data);
      return true;
    };
    const dir = (ident: 7 | 633 | 1337) => (data: string) => {
      const d = reportedDir(ident, data);
      if (d) o.onDir(d);
      return d !== null;
    };
    this.disposables = [
      p.registerOscHandler(133, mark(133)), p.registerOscHandler(633, mark(633)),
      p.registerOscHandler(7, dir(7)), p.registerOscHandler(1337, dir(1337)),
    ];
  }

  /** Keeps the commands for a snapshot without marks. restore puts them back where the lines are the same. */
  keep(): KeptCommand[] {
    const b = this.term.buffer.normal;
    return this.marks.all().map((c) => ({
      at: c.prompt.line, prompt: b.getLine(c.prompt.line)?.translateToString(true) ?? "",
      output: c.output && !c.output.isDisposed ? c.output.line : -1, end: c.end && !c.end.isDisposed ? c.end.line : -1, exit: c.exit, text: c.text,
    }));
  }

  restore(kept: KeptCommand[]) {
    const b = this.term.buffer.active;
    if (b.type !== "normal" || this.marks.all().length > 0) return;
    const bottom = b.baseY + b.cursorY;
    const place = (line: number) => (line < 0 || line > bottom ? null : (this.term.registerMarker(line - bottom) ?? null));
    for (const k of kept) {
      if (k.at > bottom || b.getLine(k.at)?.translateToString(true) !== k.prompt) return;
      this.marks.feed({ kind: "prompt" }, () => place(k.at));
      this.marks.feed({ kind: "line", text: k.text }, () => null);
      if (k.output < 0) continue;
      let c = this.marks.feed({ kind: "output" }, () => place(k.output));
      if (k.end >= 0) c = this.marks.feed({ kind: "end", exit: k.exit }, () => place(k.end)) ?? c;
      if (c) this.draw(c);
    }
  }

  /** Ends the running command: the session has ended. */
  end(exit: TerminalExit | null) {
    const c = this.marks.feed({ kind: "end", exit: exit?.code ?? null }, () => this.term.registerMarker(0) ?? null);
    if (c) this.draw(c);
  }

  clear() {
    for (const d of this.drawn.values()) d.dispose();
    this.drawn.clear();
    this.marks.clear();
    this.jumped = null;
  }

  dispose() {
    this.clear();
    for (const d of this.disposables) d.dispose();
  }

  /** Scrolls to the next command in a direction. False if there is none. */
  jump(step: -1 | 1): boolean {
    const b = this.term.buffer.active;
    if (b.type !== "normal") return false;
    const here = this.jumped?.top === b.viewportY ? this.marks.all().find((c) => c.id === this.jumped?.id) : undefined;
    const cursor = b.baseY + b.cursorY;
    const open = this.marks.at(cursor); // the waiting prompt, which may have several lines
    const bottom = open && !open.output ? open.prompt.line : cursor;
    const from = here?.prompt.line ?? (b.viewportY >= b.baseY ? bottom : b.viewportY);
    const to = step < 0 ? this.marks.before(from) : this.marks.after(from);
    if (!to) {
      if (step > 0) {
        this.term.scrollToBottom();
        this.jumped = null;
      }
      return false;
    }
    this.term.scrollToLine(Math.max(0, to.prompt.line - 1));
    this.jumped = { id: to.id, top: this.term.buffer.active.viewportY };
    this.flash(to);
    return true;
  }

  /** A command's output: of the one jumped to, else of the one at the top of the view, else of the last one. */
  output(): { text: string; command: string } | null {
    const b = this.term.buffer.active;
    const here = this.jumped?.top === b.viewportY ? this.marks.all().find((c) => c.id === this.jumped?.id) : undefined;
    const c = here ?? (b.viewportY >= b.baseY ? this.marks.latest() : this.marks.at(b.viewportY));
    const range = c && this.marks.outputRange(c, b.baseY + b.cursorY);
    return c && range ? { text: this.text(range.from, range.to), command: c.text } : null;
  }

  selectOutput(c: Ran) {
    const b = this.term.buffer.active;
    const range = this.marks.outputRange(c, b.baseY + b.cursorY);
    if (range) this.term.selectLines(range.from, range.to - 1);
  }

  private text(from: number, to: number): string {
    const b = this.term.buffer.active;
    const lines: string[] = [];
    let size = 0;
    for (let y = from; y < to && size < MAX_COPY; y++) {
      const line = b.getLine(y);
      if (!line) break;
      const t = line.translateToString(!b.getLine(y + 1)?.isWrapped);
      size += t.length;
      if (line.isWrapped && lines.length > 0) lines[lines.length - 1] += t;
      else lines.push(t);
    }
    return lines.join("\n").replace(/\n+$/, "");
  }

  private draw(c: Ran) {
    this.drawn.get(c.id)?.dispose();
    this.drawn.delete(c.id);
    if (!c.output || this.term.buffer.active.type !== "normal") return; // a prompt alone gets no mark
    const state = !c.end ? "running" : c.exit === 0 || c.exit === null ? "ok" : "bad";
    const ink = terminalInk();
    const d = this.term.registerDecoration({
      marker: c.prompt, x: 0, width: 1,
      ...(state === "bad" ? { overviewRulerOptions: { color: ink.fail, position: "left" as const } } : {}),
    });
    if (!d) return;
    const says = state === "running" ? "Running" : c.exit === null ? "Ended" : `Exit code ${c.exit}`;
    d.onRender((el) => {
      el.className = `xterm-decoration term-mark ${state}`;
      if (el.title) return;
      el.title = `${says}. Click selects its output.`;
      el.setAttribute("aria-hidden", "true");
      el.addEventListener("mousedown", (e) => {
        e.preventDefault();
        e.stopPropagation();
        this.selectOutput(c);
      });
    });
    d.onDispose(() => this.drawn.get(c.id) === d && this.drawn.delete(c.id));
    this.drawn.set(c.id, d);
  }

  private flash(c: Ran) {
    const d = this.term.registerDecoration({ marker: c.prompt, x: 0, width: this.term.cols });
    d?.onRender((el) => el.classList.add("term-jump"));
    setTimeout(() => d?.dispose(), 700);
  }
}
