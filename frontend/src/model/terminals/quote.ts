// Quotes paths as one word of a command line, for shells of this computer. Paths in
// containers come quoted from Loop.
import type { Platform } from "../keys/chord";

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

export function quotePosix(path: string): string {
  if (PLAIN.test(path) && !path.startsWith("-")) return path;
  const word = `'${path.replaceAll("'", `'\\''`)}'`;
  return path.startsWith("-") ? `./${word}` : word;
}

/** Quotes for both cmd and PowerShell. A name on Windows cannot have a double quote. */
export function quoteWindows(path: string): string {
  const clean = path.replaceAll('"', "");
  return /^[A-Za-z0-9_@+=:,.\\/-]+$/.test(clean) ? clean : `"${clean}"`;
}

export function quotePath(path: string, platform: Platform): string {
  return platform === "windows" ? quoteWindows(path) : quotePosix(path);
}
