// The pretend search over everything that was said and done.

function textOf(e) {
  const d = e.data ?? {};
  if (typeof d.content === "string") return d.content;
  if (typeof d.text === "string") return d.text;
  if (typeof d.output === "string") return d.output;
  return e.type === "tool.use" ? JSON.stringify(d.input ?? "") : "";
}

/** Whether a word of the text begins so. */
function begins(text, word) {
  const low = text.toLowerCase();
  for (let i = low.indexOf(word); i >= 0; i = low.indexOf(word, i + 1)) if (!/[\p{L}\p{N}]/u.test(low.charAt(i - 1))) return true;
  return false;
}

/** Events that have all words, newest first, as Channels.Find returns them. */
export function findIn(events, q) {
  const words = q.words.toLowerCase().split(/\s+/).filter(Boolean);
  const all = [...events.entries()].filter(([id]) => !q.channel_id || id === q.channel_id).flatMap(([id, list]) => list.map((e) => ({ id, e })))
    .filter(({ e }) => e.id && (!q.before_id || e.id < q.before_id) && words.every((w) => begins(textOf(e), w)))
    .sort((a, b) => b.e.id - a.e.id);
  const n = q.limit || 50;
  return {
    more: all.length > n,
    found: all.slice(0, n).map(({ id, e }) => ({
      event_id: e.id, channel_id: id, run_id: e.run_id, type: e.type, timestamp: e.timestamp, tool_use_id: e.data.tool_use_id, tool_name: e.data.tool_name, is_bot: e.data.is_bot === true,
      excerpt: textOf(e).replace(/\s+/g, " ").slice(0, 200),
    })),
  };
}
