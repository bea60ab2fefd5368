// What the page remembers by itself: drafts, unsent prompts, the chosen channel.
// Storage may be full or switched off; then the page works without memory.

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key: string, value: string) {
  try {
    if (value) localStorage.setItem(key, value);
    else localStorage.removeItem(key);
  } catch {
    // Nothing to do: the text is still on the screen.
  }
}

export const loadChoice = (name: string) => shared.get(name) ?? read(`loop.${name}`) ?? "";

export function saveChoice(name: string, value: string) {
  write(`loop.${name}`, value);
  if (!isShared(name) || shared.get(name) === value) return;
  shared.set(name, value);
  unsent.add(name);
  void send();
}

// Choices that every page of this Loop shares. A browser keeps what it stores by
// address, and the port may be another one after each start: so Loop keeps them too.
type Keeper = { memory(): Promise<Record<string, string> | null>; keep(name: string, value: string): Promise<unknown> };
const isShared = (name: string) => /^(dock\.[0-9a-f]+|terminal\.zoom|sidebar(\.width)?|contrast|selected)$/.test(name);
const shared = new Map<string, string>();
const unsent = new Set(unsentBefore().filter(isShared)); // by an earlier visit, or by this one
let keeper: Keeper | null = null;
let sending = false;

/** Told when Loop has said what it keeps. */
export const recallListeners = new Set<() => void>();

/** Asks Loop what it keeps. Without an answer the page has what the browser kept. */
export async function recall(k: Keeper) {
  let all: Record<string, string>;
  try {
    all = (await k.memory()) ?? {};
  } catch {
    return;
  }
  keeper = k;
  const mine = localNames();
  const first = Object.keys(all).length === 0; // of this Loop: the browser knows more
  for (const name of new Set([...mine, ...Object.keys(all)])) {
    if (!isShared(name)) continue;
    const local = read(`loop.${name}`) ?? "";
    if (first && local) unsent.add(name);
    // A window of one's own keeps its own channel.
    const value = unsent.has(name) || (name === "selected" && local) ? local : (all[name] ?? "");
    shared.set(name, value);
    write(`loop.${name}`, value);
  }
  for (const f of recallListeners) f();
  void send();
}

/** One after the other, the newest value of each. What fails is tried with the next, or by the next visit. */
export async function send() {
  write("loop.unsent", unsent.size > 0 ? JSON.stringify([...unsent]) : "");
  if (sending || !keeper) return;
  sending = true;
  try {
    for (let name = [...unsent][0]; name; name = [...unsent][0]) {
      const value = loadChoice(name);
      await keeper.keep(name, value);
      if (loadChoice(name) === value) unsent.delete(name);
    }
  } catch {
    // Loop does not answer; the browser has it for now.
  }
  sending = false;
  write("loop.unsent", unsent.size > 0 ? JSON.stringify([...unsent]) : "");
}

function unsentBefore(): string[] {
  try {
    const v: unknown = JSON.parse(read("loop.unsent") ?? "[]");
    return Array.isArray(v) ? v.filter((x) => typeof x === "string") : [];
  } catch {
    return [];
  }
}

function localNames(): string[] {
  try {
    return Object.keys(localStorage).filter((k) => k.startsWith("loop.")).map((k) => k.slice(5));
  } catch {
    return [];
  }
}
