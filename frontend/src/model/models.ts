// Models and efforts in words. The names are the agent CLI's for the newest model of each kind.
import { modelName } from "./format";

export const MODELS: { name: string; says: string }[] = [
  { name: "opus", says: "for hard work" },
  { name: "sonnet", says: "for most work" },
  { name: "haiku", says: "quick and cheap" },
];

/** Further names that the agent CLI of Loop's image knows; a test of the CLI says so. */
export const FURTHER_MODELS: { name: string; says: string }[] = [
  { name: "opusplan", says: "plans with Opus, works with Sonnet" },
  { name: "opus[1m]", says: "a context of a million tokens" },
  { name: "sonnet[1m]", says: "a context of a million tokens" },
  { name: "claude-opus-5-5", says: "" },
  { name: "claude-sonnet-5-5", says: "" },
  { name: "claude-haiku-5-5", says: "" },
  { name: "claude-opus-5", says: "" },
  { name: "claude-sonnet-5", says: "" },
  { name: "claude-opus-4-8", says: "" },
  { name: "claude-sonnet-4-6", says: "" },
  { name: "claude-haiku-4-5", says: "" },
];

/** The models to choose from: those that the CLI knows, then those that the person typed before. */
export function modelChoices(typed: string[]): { name: string; says: string }[] {
  const known = [...MODELS, ...FURTHER_MODELS];
  const own = [...new Set(typed)].filter((name) => name && !known.some((m) => m.name === name));
  return [...known, ...own.map((name) => ({ name, says: "typed before" }))];
}

export const EFFORTS = ["low", "medium", "high", "xhigh", "max"];

/** A model as it is shown. A short name that the last run's model has in it is shown as that one, with its number. */
export function modelWord(name: string, last = ""): string {
  const full = new RegExp(`^claude-${name.replace(/[^\w-]/g, "")}-`).test(last) ? last : name;
  if (full === name && MODELS.some((m) => m.name === name)) return (name[0] ?? "").toUpperCase() + name.slice(1);
  return modelName(full);
}

/** What a prompt was sent with, for its row and its place in the queue; empty for nothing of its own. */
export function ownWords(model = "", effort = ""): string {
  return [model && modelWord(model), effort && `effort ${effort}`].filter(Boolean).join(", ");
}
