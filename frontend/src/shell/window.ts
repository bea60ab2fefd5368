// The bridge of the Wails window: calls by the bound structs on window.go, events by window.runtime.
import type { LoopEvent } from "../api/types";
import type { Bridge } from "./bridge";

type Bound = Record<string, Record<string, ((...args: unknown[]) => Promise<unknown>) | undefined> | undefined>;
type WailsRuntime = {
  EventsOn(name: string, callback: (...data: unknown[]) => void): () => void;
  WindowSetTitle?(title: string): void;
  ClipboardSetText?(text: string): Promise<boolean>;
  ClipboardGetText?(): Promise<string>;
  OnFileDrop?(callback: (x: number, y: number, paths: string[]) => void, useDropTarget: boolean): void;
  OnFileDropOff?(): void;
};

declare global {
  interface Window {
    go?: { bind?: Bound };
    runtime?: WailsRuntime;
    wails?: { flags?: { enableWailsDragAndDrop?: boolean } };
  }
}

const EVENTS = "loop:events";
const ASKS = "loop:ask";

export function inWails(): boolean {
  return Boolean(window.go?.bind) || location.protocol === "wails:" || location.hostname === "wails.localhost";
}

/** Resolves once the bindings exist. Wails injects them while the page loads. */
export async function windowBridge(): Promise<Bridge> {
  for (let i = 0; !window.go?.bind && i < 100; i++) await new Promise((r) => setTimeout(r, 20));
  const listeners = new Set<(batch: LoopEvent[]) => void>();
  window.runtime?.EventsOn(EVENTS, (data) => {
    if (Array.isArray(data)) for (const l of listeners) l(data as LoopEvent[]);
  });
  return {
    kind: "window",
    async invoke(service, method, args) {
      const fn = window.go?.bind?.[service]?.[method];
      if (!fn) throw { code: "not_found", cause: `This window has no call ${service}.${method}.`, remedy: "Rebuild Loop: page and program belong to different versions." };
      return fn(...args);
    },
    onEvents(l) {
      listeners.add(l);
      return () => listeners.delete(l);
    },
    onLink(l) {
      l({ state: "online" });
      return () => {};
    },
    onAsk(l) {
      window.runtime?.EventsOn(ASKS, (what) => l(what));
    },
    reconnect() {},
    async endpoint() {
      const at = (await window.go?.bind?.Terminals?.Endpoint?.()) as { base?: string; token?: string } | undefined;
      if (!at?.base) throw { code: "not_found", cause: "This window does not know where its terminals are.", remedy: "Rebuild Loop: page and program belong to different versions." };
      return { base: at.base.replace(/\/?$/, "/"), token: at.token ?? "" };
    },
    resumeAt() {},
  };
}
