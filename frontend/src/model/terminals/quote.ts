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
