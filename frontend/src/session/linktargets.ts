// Where links of texts lead, whoever wrote them: what may be followed is decided here, for prose and terminals alike.
import type { FileRef } from "../model/terminals/filelinks";

/** file: of the computer or the container that the text came from. */
export type Target = { kind: "web"; url: string } | { kind: "file"; file: FileRef };

/** What a link's target leads to; null if nothing of Loop's opens it. The host of an address is in ASCII, so that look-alikes show. */
export function targetOf(text: string): Target | null {
  let u: URL;
  try {
    u = new URL(text);
  } catch {
    return null;
  }
  if ((u.protocol === "http:" || u.protocol === "https:") && u.host !== "") return { kind: "web", url: u.href };
  if (u.protocol !== "file:") return null;
  const file = fileIn(u);
  return file && { kind: "file", file };
}

/** The host of such an address is that of whoever wrote it, and says nothing. “#12”, “#L12” and “#12:3” name a line. */
function fileIn(u: URL): FileRef | null {
  let path: string;
  try {
    path = decodeURIComponent(u.pathname);
  } catch {
    return null;
  }
  if (/^\/[A-Za-z]:/.test(path)) path = path.slice(1);
  if (path.length < 2 || path.length > 4096 || /\p{Cc}/u.test(path)) return null;
  const [, line = "0", column = "0"] = /^#L?(\d{1,7})(?:[:,](\d{1,5}))?/.exec(u.hash) ?? [];
  return { path, line: Number(line), column: Number(column) };
}

/** A target in words, as the hint beside the pointer shows it. */
export const targetWords = (t: Target): string => (t.kind === "web" ? t.url : t.file.line > 0 ? `${t.file.path}:${t.file.line}` : t.file.path);
