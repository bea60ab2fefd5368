// The small parts of a browser that some unit tests need. Such a test imports this file first.
import { vi } from "vitest";

/** The content of localStorage. storage.broken: it is switched off. */
export const kept = new Map<string, string>();
export const storage = { broken: false };

const methods = {
  getItem: (k: string) => kept.get(k) ?? null,
  setItem: (k: string, v: string) => kept.set(k, v),
  removeItem: (k: string) => kept.delete(k),
};
const local = new Proxy(methods, {
  ownKeys: () => [...kept.keys()],
  getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  get(target, name: keyof typeof methods) {
    if (storage.broken) throw new Error("storage is switched off");
    return target[name];
  },
});

vi.stubGlobal("navigator", { platform: "Linux", userAgent: "" });
vi.stubGlobal("localStorage", local);
vi.stubGlobal("document", { hidden: false, querySelector: () => null, getElementById: () => null });
vi.stubGlobal("requestAnimationFrame", (f: () => void) => setTimeout(f, 16));
