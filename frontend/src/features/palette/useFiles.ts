import { useEffect, useState } from "react";
import type { ChannelID, FileMatch } from "../../api/types";
import { session } from "../../session/session";

const LEAST = 2; // letters
const MOST = 6;
const PAUSE_MS = 120;

/** Files of the channel's container by a few letters. Where none can be found, the palette does without. */
export function useFiles(channel: ChannelID, query: string): FileMatch[] {
  const [found, setFound] = useState<{ query: string; files: FileMatch[] }>({ query: "", files: [] });
  const words = query.trim();
  useEffect(() => {
    if (!channel || words.length < LEAST) return;
    let over = false;
    const t = setTimeout(() => {
      session().api.files.find(channel, words, MOST, []).then((m) => !over && setFound({ query: words, files: (m.files ?? []).filter((f) => !f.path.endsWith("/")) }), () => {});
    }, PAUSE_MS);
    return () => {
      over = true;
      clearTimeout(t);
    };
  }, [channel, words]);
  return words.length >= LEAST && found.query !== "" ? found.files : [];
}
