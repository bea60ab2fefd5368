// A container's log while it is followed: bounded, and with places of what is looked for.
export const MAX_LINES = 5000;
const MAX_LINE = 4000; // characters shown of one line

export type LogLine = { n: number; at: number; text: string; tone: "fail" | "need" | "" }; // n counts from the first line that was read; at: 0 where the line has no time
export type FollowedLog = { lines: LogLine[]; next: string; read: number; cut: boolean; part: string }; // part: a line that has no end yet

export const noLog: FollowedLog = { lines: [], next: "", read: 0, cut: false, part: "" };

// Colour codes and the like, which only a terminal understands.
// eslint-disable-next-line no-control-regex
const CODES = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** Adds what was read, and forgets the oldest lines above the bound. */
export function append(log: FollowedLog, text: string, next: string): FollowedLog {
  if (text === "") return next === log.next ? log : { ...log, next };
  const parts = (log.part + text).split("\n");
  const part = parts.pop() ?? "";
  const made = parts.map((t, i): LogLine => ({ n: log.read + i + 1, ...lineOf(t.replace(/\r$/, "").replace(CODES, "").slice(0, MAX_LINE)) }));
  const all = [...log.lines, ...made];
  return { lines: all.slice(-MAX_LINES), next, read: log.read + made.length, cut: log.cut || all.length > MAX_LINES, part: part.slice(-MAX_LINE) };
}

/** The numbers of the lines that have the text, in any case. */
export function found(lines: LogLine[], typed: string): number[] {
  const t = typed.toLowerCase();
  return t === "" ? [] : lines.filter((l) => l.text.toLowerCase().includes(t)).map((l) => l.n);
}

export type LogPiece = { text: string; hit: boolean };

/** A line in pieces, of which those that were looked for are marked. */
export function pieces(text: string, typed: string): LogPiece[] {
  const t = typed.toLowerCase();
  const low = text.toLowerCase();
  if (t === "" || low.length !== text.length) return [{ text, hit: false }]; // some letters change their length with the case
  const out: LogPiece[] = [];
  let from = 0;
  for (let at = low.indexOf(t); at >= 0; at = low.indexOf(t, from)) {
    if (at > from) out.push({ text: text.slice(from, at), hit: false });
    out.push({ text: text.slice(at, at + t.length), hit: true });
    from = at + t.length;
  }
  if (from < text.length) out.push({ text: text.slice(from), hit: false });
  return out;
}

const STRUCTURED = /^time=(\S+) level=(\w+) msg=(?:"((?:[^"\\]|\\.)*)"|(\S+))(.*)$/;

/** The lines of loop init are structured: their time and level need no words. */
function lineOf(text: string): Pick<LogLine, "at" | "text" | "tone"> {
  const m = STRUCTURED.exec(text);
  const at = m ? Date.parse(m[1] ?? "") : NaN;
  if (!m || !(at > 0)) return { at: 0, text, tone: toneOf(text) };
  const tone = m[2] === "ERROR" ? "fail" : m[2] === "WARN" ? "need" : "";
  return { at, text: `${(m[3] ?? m[4] ?? "").replace(/\\(.)/g, "$1")}${m[5] ?? ""}`, tone };
}

function toneOf(text: string): LogLine["tone"] {
  if (/\b(error|fail(ed|ure)?|fatal|panic|denied)\b/i.test(text)) return "fail";
  return /\bwarn(ing)?\b/i.test(text) ? "need" : "";
}
