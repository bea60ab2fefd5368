// What the rest of the page knows of its surroundings: calls, events, and
// whether the other side answers. Two implementations: window.ts and headless.ts.
import type { Invoke } from "../api/calls";
import type { LoopEvent } from "../api/types";

export type LinkState =
  | { state: "connecting" }
  | { state: "online" }
  | { state: "offline"; since: number; retryAt: number }
  | { state: "denied" }; // the key of this page is not (or no longer) valid

/** Where bytes travel: sockets and downloads, which no bound call can carry. */
export type Endpoint = { base: string; token: string };

/** The last event a page has applied: the stream goes on after it. */
export type Position = { launch: string; seq: number };

export type Bridge = {
  kind: "window" | "headless";
  invoke: Invoke;
  /** Batches in order. Returns how to stop listening. */
  onEvents(listener: (batch: LoopEvent[]) => void): () => void;
  /** Called with the present state at once, then on each change. */
  onLink(listener: (link: LinkState) => void): () => void;
  /** The window wants the person to be asked what happens when it closes ("close") or about quitting ("quit"). */
  onAsk(listener: (what: unknown) => void): void;
  /** Try to connect now instead of waiting for the back-off. */
  reconnect(): void;
  /** The loopback listener; in the window it is another origin than the page's. */
  endpoint(): Promise<Endpoint>;
  /** Where this page is in the stream, asked at each reconnect; null before the first snapshot. */
  resumeAt(where: () => Position | null): void;
};
