// Every rejected call becomes a Failure: something a person can act on.
import type { Failure } from "./types";

export const OFFLINE = "offline";
export const DENIED = "denied";

export function isFailure(v: unknown): v is Failure {
  return typeof v === "object" && v !== null && typeof (v as Failure).code === "string" && typeof (v as Failure).cause === "string";
}

/** A rejection as it arrives: an object (headless), a JSON string (window), or anything else. */
export function toFailure(v: unknown): Failure {
  if (isFailure(v)) return v;
  const text = v instanceof Error ? v.message : typeof v === "string" ? v : "";
  if (text.startsWith("{")) {
    try {
      const parsed: unknown = JSON.parse(text);
      if (isFailure(parsed)) return parsed;
    } catch {
      // Not JSON after all: shown as detail below.
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
