// Titles that programs choose, cut down to one line that can be drawn, as core.CleanTitle does.
import type { TerminalInfo } from "../../api/types";

const MAX = 200;

export function cleanTitle(text: string): string {
  const out: string[] = [];
  for (const ch of text) {
    if (out.length === MAX) break;
    if (/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(ch) && ch !== "\ufffd") out.push(ch);
  }
  return out.join("").trim();
}

/** The name of a session: the person's own, else the folder of a waiting shell, else the program that runs. */
export function sessionTitle(t: Pick<TerminalInfo, "named" | "title" | "shell" | "dir">): string {
  if (!t.named && t.shell === "prompt" && t.dir) return dirName(t.dir);
  return t.title || "Terminal";
}

/** The full name of a session, with its command and folder, for places with room. */
export function sessionDetail(t: Pick<TerminalInfo, "title" | "dir" | "command">): string {
  return [t.title, t.command && t.command !== t.title ? t.command : "", t.dir && t.dir !== t.title ? t.dir : ""].filter(Boolean).join("\n");
}

/** The last part of a path, for tabs. */
export function dirName(path: string): string {
  const clean = cleanTitle(path).replace(/[\\/]+$/, "");
  return clean.split(/[\\/]/).at(-1) || clean || "/";
}

/** The path of an OSC 7 report (file://host/path) or of 633;P;Cwd= and 1337;CurrentDir=. */
export function reportedDir(ident: 7 | 633 | 1337, data: string): string | null {
  if (ident === 7) {
    const m = /^file:\/\/[^/]*(\/.*)$/.exec(data);
    if (!m?.[1]) return null;
    try {
      return cleanTitle(decodeURIComponent(m[1]));
    } catch {
      return null;
    }
  }
  const m = ident === 633 ? /^P;Cwd=(.*)$/.exec(data) : /^CurrentDir=(.*)$/.exec(data);
  return m?.[1] ? cleanTitle(m[1]) : null;
}
