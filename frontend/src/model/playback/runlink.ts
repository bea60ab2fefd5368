// Links that lead to a moment of a run. All is behind the #, which no server sees.
import type { ChannelID, RunID } from "../../api/types";

/** at: milliseconds since the run began. */
export type RunLink = { channel: ChannelID; run: RunID; at: number };

const FORM = /^#run=([0-9A-Za-z_-]{1,64})&channel=([0-9A-Za-z_-]{1,64})(?:&t=(\d{1,8}(?:\.\d{1,3})?))?$/;
const HERE = /^(?:https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?\/?)?(?=#)/i;

/** A text without the address of a Loop on this computer. */
export const hashOf = (text: string): string => text.trim().replace(HERE, "");

/** base: the address of the page. A moment is never before what has just begun. */
export const runLink = (base: string, l: RunLink): string => `${base}#run=${l.run}&channel=${l.channel}&t=${Math.ceil(l.at) / 1000}`;

/** The moment that a link leads to; null where a text is no such link of a Loop on this computer. */
export function parseRunLink(text: string): RunLink | null {
  const [, run, channel, t = "0"] = FORM.exec(hashOf(text)) ?? [];
  return run && channel ? { run, channel, at: Math.round(Number(t) * 1000) } : null;
}
