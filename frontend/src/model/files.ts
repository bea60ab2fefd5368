// Dropped and pasted files, and the place of their paths in a text.

/** The paths in a text/uri-list, as file managers drop it. Only files of this computer count. */
export function filePaths(uriList: string): string[] {
  return uriList.split(/\r?\n/).flatMap((line) => {
    const m = /^file:\/\/(?:localhost)?(\/.*)$/i.exec(line.trim());
    if (!m?.[1]) return [];
    try {
      const p = decodeURIComponent(m[1]);
      // eslint-disable-next-line no-control-regex -- a NUL is in no path
      if (p.includes("\u0000")) return [];
      return [/^\/[A-Za-z]:[\\/]/.test(p) ? p.slice(1) : p];
    } catch {
      return [];
    }
  });
}

/** Whether a drag may bring files. WebKitGTK only says that it brings addresses, not which. */
export function mayBringFiles(types: readonly string[]): boolean {
  return types.includes("Files") || types.includes("text/uri-list");
}

/** Whether the window's own runtime reports this drop. It reports files, but no addresses of pages. */
export function runtimeTells(types: readonly string[], uriList: string): boolean {
  return types.includes("Files") || (types.includes("text/uri-list") && (uriList.trim() === "" || filePaths(uriList).length > 0));
}

export type Placed = { text: string; at: number };

/** Puts a word into a text, with blanks around it. The result's at is the place behind the word. */
export function insertWord(text: string, at: number, word: string): Placed {
  const before = text.slice(0, at);
  const after = text.slice(at);
  const head = `${before}${before === "" || /\s$/.test(before) ? "" : " "}${word}${/^\s/.test(after) ? "" : " "}`;
  return { text: head + after, at: head.length };
}

/** Follows a place in a text through an edit. Text typed at the place comes behind it. */
export function follow(before: string, after: string, at: number): number {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  if (at <= head) return at;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return after.length - Math.min(tail, before.length - at);
}
