// Fields of the settings: between their stored values and the text that a person types.
import type { SettingsField } from "../api/types";

type Kind = Pick<SettingsField, "kind">;

/** A value as a person types it: lists by line, objects and rules as JSON. */
export function typed(f: Kind, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (f.kind === "list" && !structured(value)) return (value as unknown[]).map(String).join("\n");
  if (f.kind === "list") return JSON.stringify(value, null, 2);
  if (f.kind === "object") return Object.keys(value as object).length === 0 ? "" : JSON.stringify(value, null, 2);
  return String(value);
}

/** Whether a list has entries that are no texts, such as rules. */
const structured = (value: unknown) => Array.isArray(value) && value.some((v) => typeof v === "object");

/** The value in force as a person types it. */
export const shown = (f: SettingsField): string => typed(f, f.value);

/** The value of a typed text, or a sentence that says what is wrong with it. */
export function read(f: SettingsField, text: string): { value: unknown } | { wrong: string } {
  const t = text.trim();
  switch (f.kind) {
    case "integer":
    case "number": {
      const n = Number(t);
      if (t === "" || !Number.isFinite(n) || (f.kind === "integer" && !Number.isInteger(n))) return { wrong: f.kind === "integer" ? "Type a whole number." : "Type a number." };
      return { value: n };
    }
    case "boolean":
      return { value: t === "true" };
    case "list":
      if (!t.startsWith("[")) return { value: text.split("\n").map((l) => l.trim()).filter(Boolean) };
      return parsed(t, Array.isArray, "Type a JSON list, like [{…}], or one text per line.");
    case "object":
      return parsed(t || "{}", (v) => typeof v === "object" && v !== null && !Array.isArray(v), "Type a JSON object, like {\"NAME\": \"value\"}.");
    default:
      return { value: text };
  }
}

function parsed(text: string, fits: (v: unknown) => boolean, wrong: string): { value: unknown } | { wrong: string } {
  try {
    const v: unknown = JSON.parse(text);
    return fits(v) ? { value: v } : { wrong };
  } catch {
    return { wrong: "This is not JSON. Check its quotes, commas and braces." };
  }
}

/** The bounds of a number in words; empty where it has none. */
export function bounds(f: SettingsField): string {
  if (f.min && f.max) return `${f.min} to ${f.max}`;
  return f.min ? `from ${f.min}` : f.max ? `to ${f.max}` : "";
}

/** Whether something other than Loop itself says the value. */
export const isChanged = (f: SettingsField): boolean => f.origin.layer !== "built-in";
