// The bridge to Loop: calls, events, and whether Loop answers. The rest of the page knows
// only this type. It has two implementations: window.ts and headless.ts.
import type { Invoke } from "../api/calls";
import type { LoopEvent } from "../api/types";

export type LinkState =
  | { state: "connecting" }
  | { state: "online" }
  | { state: "offline"; since: number; retryAt: number }
  | { state: "denied" }; // the page's key is not valid, or no longer

/** The address for sockets and downloads, which a bound call cannot carry. */
export type Endpoint = { base: string; token: string };

/** The last event that the page has applied. The stream goes on after it. */
export type Position = { launch: string; seq: number };

export type Bridge = {
  kind: "window" | "headless";
  invoke: Invoke;
  /** Gives the listener batches in order. The returned function stops it. */
  onEvents(listener: (batch: LoopEvent[]) => void): () => void;
  /** Calls the listener at once with the present state, then on each change. */
  onLink(listener: (link: LinkState) => void): () => void;
  /** Calls the listener when the window wants the person asked: "close" about closing it, "quit" about quitting Loop, "review:" and an id about an approval. */
  onAsk(listener: (what: unknown) => void): void;
  /** Tries to connect now instead of waiting for the back-off. */
  reconnect(): void;
  /** The loopback listener. In the window it has another origin than the page. */
  endpoint(): Promise<Endpoint>;
  /** Sets the function that says at each reconnect where the page is in the stream. It returns null before the first snapshot. */
  resumeAt(where: () => Position | null): void;
};
