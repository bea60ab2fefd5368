// Holds xterm.js's drawing back while output floods, and not otherwise.
import type { Terminal } from "@xterm/xterm";
import { DrawingPace } from "../../model/terminals/pace";
import { drawIn, drawSelectionOnly } from "./core";

export class Drawing {
  private pace = new DrawingPace();
  private due: FrameRequestCallback | null = null; // what is held back
  private timer: ReturnType<typeof setTimeout> | undefined;
  private frame = 0;

  /** Call it once the terminal is open. Returns what ends it, before the terminal does. */
  watch(term: Terminal): () => void {
    drawSelectionOnly(term);
    const paced = drawIn(term, {
      requestAnimationFrame: (draw) => {
        const ms = this.pace.wait(performance.now());
        this.due = draw;
        if (ms > 0) this.timer = setTimeout(() => this.flush(), ms);
        else this.flush();
        return 1; // xterm.js asks for one at a time
      },
      cancelAnimationFrame: () => this.cancel(),
    });
    if (!paced) return () => {};
    const drawn = term.onRender(() => this.pace.drawn(performance.now()));
    return () => {
      this.cancel();
      drawn.dispose();
    };
  }

  /** Counts what is given to the terminal. */
  wrote(data: Uint8Array): Uint8Array {
    this.pace.wrote(data.length);
    return data;
  }

  /** Draws what is held back, and holds nothing back for a moment. */
  keyed() {
    this.pace.keyed(performance.now());
    this.flush();
  }

  private flush() {
    clearTimeout(this.timer);
    const draw = this.due;
    this.due = null;
    if (draw) this.frame = requestAnimationFrame(draw);
  }

  private cancel() {
    clearTimeout(this.timer);
    cancelAnimationFrame(this.frame);
    this.due = null;
  }
}
