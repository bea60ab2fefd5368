// When a pane draws. A flood goes by faster than anybody reads, and a drawing takes longer than
// the parsing of what it shows: with sixty a second, half of the page's time would go to them.

/** Output in a millisecond from which it is a flood: one frame of the socket for each of the screen. */
export const FLOOD_BYTES = 4000;
/** The least milliseconds from one drawing of a flood to the next. */
export const HOLD_MS = 33;
/** The milliseconds after a key in which nothing is held back. */
export const KEYED_MS = 250;
const FRAME_MS = 16;

/** All times are milliseconds of one clock. */
export class DrawingPace {
  private bytes = 0; // since the last drawing
  private drawnAt = -Infinity;
  private keyedAt = -Infinity;
  private flood = false;

  wrote(bytes: number) {
    this.bytes += bytes;
  }

  keyed(now: number) {
    this.keyedAt = now;
  }

  /** Call it after each drawing. */
  drawn(now: number) {
    this.flood = this.bytes >= FLOOD_BYTES * Math.max(FRAME_MS, now - this.drawnAt);
    this.bytes = 0;
    this.drawnAt = now;
  }

  /** How many milliseconds a drawing has to wait that is asked for now. */
  wait(now: number): number {
    return this.flood && now - this.keyedAt >= KEYED_MS ? Math.max(0, this.drawnAt + HOLD_MS - now) : 0;
  }
}
