// The commands in a terminal, as shells report them by OSC 133 and 633. A line is a
// marker, which moves with the text and may vanish with it.

export type Line = { line: number; isDisposed: boolean };

export type MarkEvent =
  | { kind: "prompt" } // A
  | { kind: "input" } // B
  | { kind: "output" } // C
  | { kind: "end"; exit: number | null } // D
  | { kind: "line"; text: string }; // 633;E

export type Command<L extends Line = Line> = {
  id: number;
  prompt: L;
  output: L | null;
  end: L | null;
  exit: number | null;
  text: string;
};

const MAX_COMMANDS = 2000;
const MAX_TEXT = 4096;

export function parseMark(ident: 133 | 633, data: string): MarkEvent | null {
  const [kind, ...args] = data.split(";");
  switch (kind) {
    case "A":
      return { kind: "prompt" };
    case "B":
      return { kind: "input" };
    case "C":
      return { kind: "output" };
    case "D": {
      const first = args[0] ?? "";
      return { kind: "end", exit: /^-?\d{1,10}$/.test(first) ? Number(first) : null };
    }
    case "E":
      return ident === 633 ? { kind: "line", text: unescape633(args[0] ?? "").slice(0, MAX_TEXT) } : null;
    default:
      return null;
  }
}

/** Decodes the text of 633;E, which has \xHH for forbidden characters and \\ for a backslash. */
export function unescape633(text: string): string {
  return text.replace(/\\(?:\\|x([0-9a-fA-F]{2}))/g, (_, hex: string | undefined) => (hex ? String.fromCharCode(parseInt(hex, 16)) : "\\"));
}

export class CommandMarks<L extends Line = Line> {
  private list: Command<L>[] = [];
  private nextId = 1;
  private pendingText = "";
  private running = false;

  /** Applies one mark. place makes a marker at the cursor, and is only called for a marker that is kept. */
  feed(ev: MarkEvent, place: () => L | null): Command<L> | null {
    const last = this.list.at(-1);
    switch (ev.kind) {
      case "prompt": {
        this.running = false;
        const line = place();
        if (!line) return null;
        // A prompt drawn again on the same line, or reported in both dialects, is the same prompt.
        if (last && !last.output && !last.end && (last.prompt.line === line.line || last.prompt.isDisposed)) {
          last.prompt = line;
          return last;
        }
        const made: Command<L> = { id: this.nextId++, prompt: line, output: null, end: null, exit: null, text: "" };
        this.list.push(made);
        if (this.list.length > MAX_COMMANDS) this.list.splice(0, this.list.length - MAX_COMMANDS);
        return made;
      }
      case "line":
        this.pendingText = ev.text;
        return null;
      case "output":
        if (!last || last.end || last.output) return null;
        last.output = place();
        last.text = this.pendingText;
        this.pendingText = "";
        this.running = true;
        return last;
      case "end":
        if (!last || last.end || !last.output) return null; // an empty command line has no output, and so no end
        last.end = place();
        last.exit = ev.exit;
        this.running = false;
        return last;
      default:
        return null;
    }
  }

  /** Whether a command runs: its output has begun and not ended. */
  isRunning(): boolean {
    return this.running;
  }

  all(): Command<L>[] {
    if (this.list.some((c) => c.prompt.isDisposed)) this.list = this.list.filter((c) => !c.prompt.isDisposed);
    return this.list;
  }

  clear() {
    this.list = [];
    this.running = false;
    this.pendingText = "";
  }

  /** The nearest prompt above a line. */
  before(line: number): Command<L> | null {
    return this.all().findLast((c) => c.prompt.line < line) ?? null;
  }

  after(line: number): Command<L> | null {
    return this.all().find((c) => c.prompt.line > line) ?? null;
  }

  /** The command that a line belongs to. */
  at(line: number): Command<L> | null {
    return this.all().findLast((c) => c.prompt.line <= line) ?? null;
  }

  /** The last command that printed or is printing. */
  latest(): Command<L> | null {
    return this.all().findLast((c) => c.output !== null) ?? null;
  }

  /** A command's output: its first line and the line after its last. null: it has none. */
  outputRange(c: Command<L>, bottom: number): { from: number; to: number } | null {
    if (!c.output || c.output.isDisposed) return null;
    const next = this.all().find((x) => x.prompt.line > c.prompt.line);
    const end = c.end && !c.end.isDisposed ? c.end.line : (next?.prompt.line ?? bottom + 1);
    const to = next ? Math.min(end, next.prompt.line) : end;
    return to > c.output.line ? { from: c.output.line, to } : null;
  }
}
