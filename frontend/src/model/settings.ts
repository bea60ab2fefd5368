// Fields of the settings: between their stored values and the text that a person types.
import type { SettingsField } from "../api/types";

/** A value as a person types it: lists by line, objects as JSON. */
export function shown(f: SettingsField): string {
  if (f.value === null || f.value === undefined) return "";
  if (f.kind === "list") return (f.value as unknown[]).map(String).join("\n");
  if (f.kind === "object") return Object.keys(f.value as object).length === 0 ? "" : JSON.stringify(f.value, null, 2);
  return String(f.value);
}

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
    case "list":
      return { value: text.split("\n").map((l) => l.trim()).filter(Boolean) };
    case "object":
      try {
        const v: unknown = t === "" ? {} : JSON.parse(t);
        if (typeof v !== "object" || v === null || Array.isArray(v)) return { wrong: "Type a JSON object, like {\"NAME\": \"value\"}." };
        return { value: v };
      } catch {
        return { wrong: "This is not JSON. Check its quotes, commas and braces." };
      }
    default:
      return { value: text };
  }
}
