/** Commands that a prompt begins with: where one is being typed, and which it could be. */
import type { SlashCommand } from "../api/types";
import type { Part } from "./mention";

/** The letters of the command that the caret is in; null where none is typed. It is the first word of a prompt. */
export function commandAt(text: string, caret: number): string | null {
  const m = /^\/(\S*)$/u.exec(text.slice(0, caret));
  return m ? (m[1] ?? "") : null;
}

/** The text with a command as its first word, and where the caret goes. */
export function withCommand(text: string, name: string): { text: string; caret: number } {
  const rest = text.replace(/^\/\S*/u, "");
  const word = `/${name}`;
  return { text: word + (/^\s/u.test(rest) ? rest : ` ${rest}`), caret: word.length + 1 };
}

export type CommandMatch = { command: SlashCommand; parts: Part[]; points: number };
export type CommandGroup = { source: string; title: string; place: string; matches: CommandMatch[] };

const GROUPS = [
  { source: "claude", title: "Claude Code", place: "" },
  { source: "project", title: "This project", place: ".claude" },
  { source: "person", title: "Yours", place: "~/.claude" },
];

const MOST = 20;

/** How well letters fit a name, and where; null where they do not. Letters together, at the start of a word, count most. */
export function fuzzy(query: string, name: string): { points: number; marks: number[] } | null {
  const [q, n] = [query.toLowerCase(), name.toLowerCase()];
  const start = (i: number) => i === 0 || /[-_:. ]/u.test(n[i - 1] ?? "");
  const places = [...n].map((_, i) => i).filter((i) => n.startsWith(q, i));
  const whole = places.find(start) ?? places[0];
  if (q === "") return { points: 0, marks: [] };
  if (whole !== undefined) {
    return { points: 200 + (whole === 0 ? 100 : start(whole) ? 50 : 0) + (n === q ? 100 : 0) - n.length, marks: Array.from(q, (_, i) => whole + i) };
  }
  const marks: number[] = [];
  for (const letter of q) {
    const at = n.indexOf(letter, (marks.at(-1) ?? -1) + 1);
    if (at < 0) return null;
    marks.push(at);
  }
  return { points: 100 + marks.filter(start).length * 10 - ((marks.at(-1) ?? 0) - (marks[0] ?? 0)) - n.length, marks };
}

const parts = (name: string, marks: number[]): Part[] => {
  const out: Part[] = [];
  for (let i = 0; i < name.length; i++) {
    const marked = marks.includes(i);
    const last = out.at(-1);
    if (last && last.marked === marked) last.text += name[i];
    else out.push({ text: name[i] ?? "", marked });
  }
  return out;
};

/** The commands that letters may mean, in groups, best first, and the number of the best of all. */
export function matchCommands(all: readonly SlashCommand[], query: string): { groups: CommandGroup[]; best: number; total: number } {
  const fits = all.flatMap((command) => {
    const f = fuzzy(query, command.name);
    return f ? [{ command, points: f.points, parts: parts(command.name, f.marks) }] : [];
  });
  const shown = query === "" ? fits : [...fits].sort((a, b) => b.points - a.points).slice(0, MOST);
  const groups = GROUPS.map((g) => ({ ...g, matches: shown.filter((m) => m.command.source === g.source) })).filter((g) => g.matches.length > 0);
  const flat = groups.flatMap((g) => g.matches);
  const best = flat.reduce((top, m, i) => (m.points > (flat[top]?.points ?? -Infinity) ? i : top), 0);
  return { groups, best, total: fits.length };
}
