// Colours code in a worker, so that a long listing never stops the page. Some webviews
// refuse workers on their own scheme. There code stays plain.
export type Token = { text: string; color: string };
type Answer = { id: number; lines: Token[][] | null };

const MAX_CHARS = 60_000;
let worker: Worker | null = null;
let broken = false;
let nextId = 1;
const waiting = new Map<number, (lines: Token[][] | null) => void>();
const done = new Map<string, Token[][]>();
const DONE_LIMIT = 200;

function start(): Worker | null {
  if (worker || broken) return worker;
  try {
    worker = new Worker(new URL("./highlight.worker.ts", import.meta.url), { type: "module" });
  } catch {
    broken = true;
    return null;
  }
  worker.addEventListener("message", (e: MessageEvent<Answer>) => {
    waiting.get(e.data.id)?.(e.data.lines);
    waiting.delete(e.data.id);
  });
  worker.addEventListener("error", () => {
    broken = true;
    worker?.terminate();
    worker = null;
    for (const answer of waiting.values()) answer(null);
    waiting.clear();
  });
  return worker;
}

export async function highlight(code: string, lang: string): Promise<Token[][] | null> {
  if (code.length > MAX_CHARS) return null;
  const key = `${lang}\n${code}`;
  const hit = done.get(key);
  if (hit) return hit;
  const w = start();
  if (!w) return null;
  const id = nextId++;
  const lines = await new Promise<Token[][] | null>((resolve) => {
    waiting.set(id, resolve);
    w.postMessage({ id, code, lang });
  });
  if (lines) {
    if (done.size >= DONE_LIMIT) done.clear();
    done.set(key, lines);
  }
  return lines;
}
