import { useRef } from "react";

const FORGET_MS = 700; // the longest pause between two keys of one word

/** Finds the next name that begins with the letters typed in quick succession. */
export function useTypeAhead(names: string[], at: number, list = ""): (key: string) => number {
  const typed = useRef({ text: "", when: 0, list });
  return (key) => {
    const t = typed.current;
    const now = Date.now();
    t.text = now - t.when > FORGET_MS || t.list !== list ? key : t.text + key; // a new list begins a new word
    t.list = list;
    t.when = now;
    const want = t.text.toLowerCase();
    const from = t.text.length > 1 ? at : at + 1;
    for (let i = 0; i < names.length; i++) {
      const j = (from + i + names.length) % names.length;
      if (names[j]?.toLowerCase().startsWith(want)) return j;
    }
    return -1;
  };
}

export function isTypeAheadKey(e: { key: string; ctrlKey: boolean; metaKey: boolean; altKey: boolean }): boolean {
  return e.key.length === 1 && e.key !== " " && !e.ctrlKey && !e.metaKey && !e.altKey;
}
