// The page's own memory: drafts, unsent prompts, the chosen channel. The browser's storage
// may be full or switched off. Then the page works without memory.

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
    // Storage is full or switched off. The text is still on the screen.
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

// Choices that all pages of this Loop share. A browser's storage belongs to an address, and
// the port may change with each start. So Loop keeps the choices too.
type Keeper = { memory(): Promise<Record<string, string> | null>; keep(name: string, value: string): Promise<unknown> };
const isShared = (name: string) => /^(dock\.[0-9a-f]+|terminal\.zoom|review\.split|sidebar(\.width)?|contrast|selected|seen|setup\.later|folder\.(last|hidden)|models\.typed|containers\.(height|order))$/.test(name);
const shared = new Map<string, string>();
const unsent = new Set(unsentBefore().filter(isShared)); // names of choices that Loop does not have yet, from this visit or an earlier one
let keeper: Keeper | null = null;
let sending = false;

/** Listeners that are called once Loop has sent the choices that it keeps. */
export const recallListeners = new Set<() => void>();

/** Asks Loop for the choices that it keeps. Without an answer the page uses the browser's. */
export async function recall(k: Keeper) {
  let all: Record<string, string>;
  try {
    all = (await k.memory()) ?? {};
  } catch {
    return;
  }
  keeper = k;
  const mine = localNames();
  const first = Object.keys(all).length === 0; // Loop keeps nothing yet, so the browser's choices count
  for (const name of new Set([...mine, ...Object.keys(all)])) {
    if (!isShared(name)) continue;
    const local = read(`loop.${name}`) ?? "";
    if (first && local) unsent.add(name);
    // Each browser keeps its own selected channel.
    const value = unsent.has(name) || (name === "selected" && local) ? local : (all[name] ?? "");
    shared.set(name, value);
    write(`loop.${name}`, value);
  }
  for (const f of recallListeners) f();
  void send();
}

/** Sends the unsent choices one after the other, each with its newest value. After a failure the next change or visit tries again. */
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
    // Loop does not answer. The browser keeps the choices for now.
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
