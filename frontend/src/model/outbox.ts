// Prompts on their way to Loop. Each is kept until Loop confirms it, so no text gets lost.
// Sending it again is harmless, because its client id becomes the run's id.
import type { ChannelID, Failure, PromptOptions } from "../api/types";

export type Letter = {
  clientId: string;
  channelId: ChannelID;
  prompt: string;
  options?: PromptOptions;
  at: number;
  state: "sending" | "failed";
  failure: Failure | null;
};

export type Outbox = Letter[];

export function put(box: Outbox, letter: Letter): Outbox {
  return [...box.filter((l) => l.clientId !== letter.clientId), letter];
}

export function confirmed(box: Outbox, clientId: string): Outbox {
  return box.some((l) => l.clientId === clientId) ? box.filter((l) => l.clientId !== clientId) : box;
}

export function failed(box: Outbox, clientId: string, failure: Failure): Outbox {
  return box.map((l) => (l.clientId === clientId ? { ...l, state: "failed", failure } : l));
}

/** Drops the prompts whose runs Loop knows, however the page learnt of them. */
export function settle(box: Outbox, runIds: Iterable<string>): Outbox {
  const known = new Set(runIds);
  return box.some((l) => known.has(l.clientId)) ? box.filter((l) => !known.has(l.clientId)) : box;
}

export function parseOutbox(json: string): Outbox {
  if (!json) return [];
  try {
    const v: unknown = JSON.parse(json);
    if (!Array.isArray(v)) return [];
    return v.filter((l): l is Letter => typeof l?.clientId === "string" && typeof l?.prompt === "string" && typeof l?.channelId === "string");
  } catch {
    return [];
  }
}
