// Places in files that texts name, and where the page shows them.
import { createStore } from "zustand/vanilla";
import type { ChannelID } from "../api/types";
import { mentionOf } from "./mention";
import type { FileRef } from "./terminals/filelinks";
import { findFiles } from "./terminals/filelinks";
import type { Item } from "./timeline/items";

/** The file that the panel of files is to show, until it takes it. visit grows with each wish. */
export const fileVisitStore = createStore<{ channel: ChannelID; path: string; line: number; visit: number }>(() => ({ channel: "", path: "", line: 0, visit: 0 }));

export type TextPart = { text: string; file: FileRef | null };

// A text that is nothing but a path below a folder, with an ending.
const ALONE = /^(?:\.{0,2}\/)?[\p{L}\p{N}_.@+~-]+(?:\/[\p{L}\p{N}_.@+~-]+)+\.[A-Za-z][A-Za-z0-9]{0,9}$/u;
const MOST = 4000; // characters, see findFiles; what is behind them stays text

/** A text in parts, of which some name a place in a file. alone: it stands by itself, as in `code`, and may be a path without a line. */
export function fileParts(text: string, alone = false): TextPart[] {
  if (alone && text.length < 300 && ALONE.test(text)) return [{ text, file: { path: text, line: 0, column: 0 } }];
  const out: TextPart[] = [];
  let at = 0;
  for (const f of findFiles(text.slice(0, MOST))) {
    if (f.from > at) out.push({ text: text.slice(at, f.from), file: null });
    out.push({ text: text.slice(f.from, f.to), file: { path: f.path, line: f.line, column: f.column } });
    at = f.to;
  }
  if (at < text.length) out.push({ text: text.slice(at), file: null });
  return out;
}

/** The file that a row is about, or the first place that it names. */
export function fileOf(it: Item): FileRef | null {
  if (it.kind === "tool") {
    const input = typeof it.input === "object" && it.input !== null ? (it.input as Record<string, unknown>) : {};
    const path = it.result?.files?.[0]?.path ?? input.file_path ?? input.notebook_path;
    if (typeof path === "string" && path) return { path, line: typeof input.offset === "number" ? input.offset : firstLine(it.result?.files?.[0]?.patch ?? ""), column: 0 };
    return it.result ? firstIn(it.result.output) : null;
  }
  if (it.kind === "reads") return it.items.map(fileOf).find(Boolean) ?? null;
  return it.kind === "text" || it.kind === "prompt" || it.kind === "thinking" ? firstIn(it.text) : null;
}

const firstIn = (text: string): FileRef | null => {
  const f = findFiles(text)[0];
  return f ? { path: f.path, line: f.line, column: f.column } : null;
};

/** The line at which a patch begins in the file as it is now. */
const firstLine = (patch: string): number => Number(/^@@ -\d+(?:,\d+)? \+(\d+)/m.exec(patch)?.[1] ?? 0);

export type Lines = { from: number; to: number };

/** The chosen lines after a click on one: with Shift they reach from the one before. A second click on a single one lets it go. */
export function chosenLines(was: Lines | null, line: number, extend: boolean): Lines | null {
  if (extend && was) return line < was.from ? { from: line, to: was.to } : { from: was.from, to: line };
  return was && was.from === line && was.to === line ? null : { from: line, to: line };
}

export const linesWords = (l: Lines): string => (l.from === l.to ? `line ${l.from}` : `lines ${l.from}–${l.to}`);

/** How a prompt names some lines of a file, as Claude Code reads it. */
export const placeWords = (path: string, l: Lines | null): string => mentionOf(path, false, l ? `#L${l.from}${l.to > l.from ? `-${l.to}` : ""}` : "");
