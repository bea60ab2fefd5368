// What the desktop tells of a channel while nobody looks.
import type { ChannelView } from "../api/types";

/** The choices, most first; "" is that of the settings. */
export const RINGS: readonly { value: string; words: string }[] = [
  { value: "all", words: "needs you, failed, done" }, { value: "problems", words: "needs you, failed" }, { value: "needs_you", words: "needs you" }, { value: "never", words: "nothing" },
];

export const ringWords = (value: string): string => RINGS.find((r) => r.value === value)?.words ?? "needs you, failed, done";

/** What counts for a channel: its own choice, that of the nearest channel above, or the settings'. */
export function ringsOf(channels: readonly ChannelView[], id: string, settings: string): string {
  const seen = new Set<string>();
  for (let at = id; at && !seen.has(at); ) {
    seen.add(at);
    const c = channels.find((x) => x.channel_id === at);
    if (c?.choices?.notify) return c.choices.notify;
    at = c?.parent_id ?? "";
  }
  return settings || "all";
}
