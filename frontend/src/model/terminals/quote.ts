// Paths as one word of a command line. Container paths come quoted from Loop;
// this is for host shells.
import type { Platform } from "./keys";

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

export function quotePosix(path: string): string {
  if (PLAIN.test(path) && !path.startsWith("-")) return path;
  const word = `'${path.replaceAll("'", `'\\''`)}'`;
  return path.startsWith("-") ? `./${word}` : word;
}

/** For cmd and PowerShell alike; neither allows a double quote in a name. */
export function quoteWindows(path: string): string {
  const clean = path.replaceAll('"', "");
  return /^[A-Za-z0-9_@+=:,.\\/-]+$/.test(clean) ? clean : `"${clean}"`;
}

export function quotePath(path: string, platform: Platform): string {
  return platform === "windows" ? quoteWindows(path) : quotePosix(path);
}

/** Paths of a text/uri-list, as file managers drop it. Only files of this computer. */
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
