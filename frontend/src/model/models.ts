// Models and efforts in words. The names are the agent CLI's for the newest model of each kind.
import { modelName } from "./format";

export const MODELS: { name: string; says: string }[] = [
  { name: "opus", says: "for hard work" },
  { name: "sonnet", says: "for most work" },
  { name: "haiku", says: "quick and cheap" },
];

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
