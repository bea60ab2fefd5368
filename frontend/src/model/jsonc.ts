// Where the caret is in a settings file, and what could be written there. The text may be
// broken anywhere: it is being typed.

/** keys: names that the object around the caret has. from, to: what a choice would replace. */
export type Spot = { path: string[]; at: "key" | "value"; typed: string; from: number; to: number; keys: string[]; colon: boolean };

type Frame = { object: boolean; keys: string[]; key: string; wants: "key" | "colon" | "value" | "comma" };

/** The place of the caret; null in a comment, and where nothing could begin. */
export function spotAt(text: string, caret: number): Spot | null {
  const stack: Frame[] = [];
  let top = { wants: "value" } as Frame;
  let found: { frame: Frame; spot: Spot } | null = null;
  const here = (from: number, to: number, word: string, at: "key" | "value") => {
    if (found || caret < from || caret > to) return;
    const path = stack.filter((f) => f.object).map((f, i, all) => (i === all.length - 1 && at === "key" ? "" : f.key)).filter(Boolean);
    found = { frame: top, spot: { path, at, typed: word, from, to, keys: [], colon: /^\s*:/.test(text.slice(to)) } };
  };
  const wanted = () => (top.wants === "key" ? "key" : top.wants === "value" ? "value" : null);
  const took = (word: string) => {
    if (top.wants === "key") {
      top.keys.push(word);
      top.key = word;
      top.wants = "colon";
    } else if (top.wants === "value") top.wants = "comma";
  };
  for (let i = 0; i <= text.length; ) {
    const c = text[i] ?? "";
    if (text.startsWith("//", i) || text.startsWith("/*", i)) {
      const end = c && text[i + 1] === "*" ? text.indexOf("*/", i + 2) + 2 : text.indexOf("\n", i);
      const to = end > 1 ? end : text.length;
      if (!found && caret > i && caret < to + (text[i + 1] === "*" ? 0 : 1)) return null;
      i = Math.max(to, i + 2);
    } else if (c === "\"") {
      let to = i + 1;
      while (to < text.length && text[to] !== "\"" && text[to] !== "\n") to += text[to] === "\\" ? 2 : 1;
      const closed = text[to] === "\"";
      to = Math.min(closed ? to + 1 : to, text.length);
      const at = wanted();
      if (at && caret > i && !(closed && caret === to)) here(i, to, text.slice(i + 1, caret), at);
      took(unquoted(text.slice(i, to)));
      i = to;
    } else if (/[\w.+-]/.test(c)) {
      let to = i;
      while (to < text.length && /[\w.+-]/.test(text[to] ?? "")) to++;
      const at = wanted();
      if (at && caret > i) here(i, to, text.slice(i, caret), at);
      took(text.slice(i, to));
      i = to;
    } else {
      const at = wanted();
      if (at && i === caret) here(i, i, "", at);
      if (c === "{" || c === "[") {
        stack.push((top = { object: c === "{", keys: [], key: "", wants: c === "{" ? "key" : "value" }));
      } else if (c === "}" || c === "]") {
        stack.pop();
        top = stack.at(-1) ?? ({ wants: "comma" } as Frame);
        if (top.wants === "value") top.wants = "comma";
      } else if (c === ":" && top.wants === "colon") top.wants = "value";
      else if (c === "," && stack.length > 0) top.wants = top.object ? "key" : "value";
      else if (c === "\n" && top.wants === "comma" && top.object && stack.length > 0) top.wants = "key"; // a comma that is still to come
      i++;
    }
  }
  const f = found as { frame: Frame; spot: Spot } | null;
  if (!f) return null;
  return { ...f.spot, keys: (f.frame.keys ?? []).filter((k) => f.spot.at !== "key" || k !== unquoted(text.slice(f.spot.from, f.spot.to))) };
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text.replace(/^"|"$/g, "");
  }
}

/** A part of a JSON Schema, as far as completion reads it. */
export type Schema = {
  type?: string | string[]; description?: string; properties?: Record<string, Schema>; additionalProperties?: Schema | boolean;
  items?: Schema; enum?: unknown[]; default?: unknown; deprecated?: boolean; writeOnly?: boolean;
};

/** insert replaces the spot; the caret then stands back characters before its end. */
export type Completion = { label: string; says: string; insert: string; back: number };

/** What the schema says of a path. */
export function schemaOf(root: Schema, path: string[]): Schema | null {
  let at: Schema = root;
  for (const name of path) {
    if (at.items) at = at.items;
    const next = at.properties?.[name] ?? (typeof at.additionalProperties === "object" ? at.additionalProperties : undefined);
    if (!next) return null;
    at = next;
  }
  return at;
}

const typeOf = (s: Schema) => [s.type ?? []].flat().find((t) => t !== "null") ?? "";

/** What could be written at a spot, those first that begin as what was typed. values: more for fields by name; titles: what a person calls them. */
export function completions(root: Schema, spot: Spot, values: Record<string, string[]>, titles: Record<string, string>): Completion[] {
  const schema = schemaOf(root, spot.path);
  if (!schema) return [];
  const q = spot.typed.toLowerCase();
  if (spot.at === "key") {
    const inside = schema.items ?? schema;
    const prefix = spot.path.length > 0 ? `${spot.path.join(".")}.` : "";
    const names = Object.entries(inside.properties ?? {}).filter(([name, s]) => !s.deprecated && !spot.keys.includes(name));
    return ranked(names.map(([name, s]) => {
      const [value, back] = spot.colon ? ["", 0] : begun(s);
      return { label: name, says: titles[prefix + name] || (s.description ?? ""), insert: `${JSON.stringify(name)}${value}`, back };
    }), q);
  }
  const of = schema.items && typeOf(schema) === "array" ? schema.items : schema;
  const choices = [
    ...(of.enum ?? []).filter((v) => v !== null), ...(typeOf(of) === "boolean" ? [true, false] : []), ...(values[spot.path.join(".")] ?? []),
    ...(of.default === undefined || of.default === null ? [] : [of.default]),
  ];
  const texts = [...new Set(choices.map((v) => JSON.stringify(v)))];
  return ranked(texts.map((t) => ({ label: unquoted(t) || "\"\"", says: t === JSON.stringify(of.default) ? "default" : "", insert: t, back: 0 })), q);
}

/** How a value begins, and how far before its end the caret stands. */
function begun(s: Schema): [string, number] {
  switch (typeOf(s)) {
    case "string":
      return [": \"\"", 1];
    case "object":
      return [": {}", 1];
    case "array":
      return [": []", 1];
    default:
      return [": ", 0];
  }
}

function ranked(list: Completion[], q: string): Completion[] {
  const rank = (c: Completion) => {
    const name = c.label.toLowerCase();
    return name.startsWith(q) ? 0 : name.includes(q) ? 1 : c.says !== "default" && c.says.toLowerCase().includes(q) ? 2 : 3;
  };
  return list.filter((c) => rank(c) < 3).sort((a, b) => rank(a) - rank(b));
}

/** The text with a completion in it, and where the caret then stands. */
export function completed(text: string, spot: Spot, c: Completion): { text: string; caret: number } {
  return { text: text.slice(0, spot.from) + c.insert + text.slice(spot.to), caret: spot.from + c.insert.length - c.back };
}

/** Where a line and a column are in a text. Columns count characters, as Loop does. */
export function offsetOf(text: string, line: number, col: number): number {
  let at = 0;
  for (let n = 1; n < line; n++) {
    const next = text.indexOf("\n", at);
    if (next < 0) return text.length;
    at = next + 1;
  }
  for (const c of text.slice(at).split("\n")[0] ?? "") {
    if (--col < 1) break;
    at += c.length;
  }
  return at;
}
