// Turns every rejected call into a Failure, with a cause and a remedy for the person.
import type { Failure } from "./types";

export const OFFLINE = "offline";
export const DENIED = "denied";

export function isFailure(v: unknown): v is Failure {
  return typeof v === "object" && v !== null && typeof (v as Failure).code === "string" && typeof (v as Failure).cause === "string";
}

/** Takes any rejection: an object from a headless Loop, a JSON string from the window, or anything else. */
export function toFailure(v: unknown): Failure {
  if (isFailure(v)) return v;
  const text = v instanceof Error ? v.message : typeof v === "string" ? v : "";
  if (text.startsWith("{")) {
    try {
      const parsed: unknown = JSON.parse(text);
      if (isFailure(parsed)) return parsed;
    } catch {
      // The string is no JSON. It becomes the detail below.
    }
  }
  return {
    code: "internal",
    cause: "Something went wrong inside Loop.",
    remedy: "Try again; if it repeats, open the checks and copy the report.",
    detail: text || safeJSON(v),
  };
}

export function failureText(f: Failure): string {
  return [f.cause, f.remedy, f.detail && `\n${f.detail}`, `(${f.code})`].filter(Boolean).join("\n");
}

export function safeJSON(v: unknown): string {
  try {
    return JSON.stringify(v, null, 2) ?? "";
  } catch {
    return String(v);
  }
}
