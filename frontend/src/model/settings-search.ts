// Finds settings by what a person calls them, what they do, and what they can be.
import type { SettingsField, SettingsGroup } from "../api/types";

const FILLER = new Set(["a", "an", "and", "are", "can", "change", "do", "does", "for", "how", "i", "in", "is", "my", "of", "on", "or", "set", "setting", "settings", "the", "to", "what", "when", "where", "which", "with"]);

const parts = (text: string) => text.toLowerCase().split(/[^\p{L}\p{N}+#]+/u).filter(Boolean);

/** A word without its ending, so that “sounds” finds “sound”. */
function stem(word: string): string {
  if (word.length > 5 && word.endsWith("ing")) return word.slice(0, -3);
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (word.length > 4 && word.endsWith("es")) return word.slice(0, -2);
  if (word.length > 3 && word.endsWith("s") && !word.endsWith("ss")) return word.slice(0, -1);
  return word;
}

/** Whether two words differ by one letter that is missing, added, wrong or swapped with its neighbour. */
export function slip(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || a === b) return false;
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  if (a.length !== b.length) return a.length > b.length ? a.slice(i + 1) === b.slice(i) : a.slice(i) === b.slice(i + 1);
  return a.slice(i + 1) === b.slice(i + 1) || (a[i] === b[i + 1] && a[i + 1] === b[i] && a.slice(i + 2) === b.slice(i + 2));
}

type Source = { words: string[]; weight: number };

/** The words of a field, with how much a find in each is worth. */
function sources(f: SettingsField, group: string): Source[] {
  return [
    { words: parts(f.title), weight: 12 },
    { words: parts(f.name), weight: 9 },
    { words: parts(f.words), weight: 8 },
    { words: (f.one_of ?? []).flatMap(parts), weight: 6 },
    { words: parts(group), weight: 4 },
    { words: parts(f.doc), weight: 3 },
  ];
}

/** What a typed word is worth in one source: whole, begun, or with a slip. */
function worth(typed: string, { words, weight }: Source): number {
  const root = stem(typed);
  let best = 0;
  for (const w of words) {
    if (w === typed || stem(w) === root) return weight;
    if (w.startsWith(typed) || (root.length > 3 && w.startsWith(root))) best = Math.max(best, weight * 0.8);
    else if (weight >= 8 && typed.length > 4 && slip(typed, w)) best = Math.max(best, weight * 0.3);
  }
  return best;
}

/** The fields that fit every word of the query, best first; those that fit most words where none fits all. */
export function searchFields(fields: SettingsField[], groups: SettingsGroup[], query: string): SettingsField[] {
  const all = parts(query);
  const words = all.some((w) => !FILLER.has(w)) ? all.filter((w) => !FILLER.has(w)) : all;
  if (words.length === 0) return fields;
  const names = new Map(groups.map((g) => [g.id, g.name]));
  const whole = query.trim().toLowerCase();
  const scored = fields.map((field, place) => {
    const from = sources(field, names.get(field.group) ?? "");
    const each = words.map((w) => {
      const found = from.map((s) => worth(w, s)).sort((a, b) => b - a);
      return (found[0] ?? 0) + 0.25 * found.slice(1).reduce((a, b) => a + b, 0);
    });
    const same = field.name === whole || field.title.toLowerCase() === whole ? 20 : field.name.includes(whole) ? 6 : 0;
    return { field, place, fits: each.filter((n) => n > 0).length, score: each.reduce((a, b) => a + b, same) };
  });
  const need = Math.max(1, ...scored.map((s) => s.fits));
  return scored.filter((s) => s.fits === need).sort((a, b) => b.score - a.score || a.place - b.place).map((s) => s.field);
}
