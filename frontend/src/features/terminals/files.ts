// Turns files into words for a program: paths that it can open, quoted for its shell.
import { quotePath } from "../../model/terminals/quote";
import type { Dropped } from "../../session/bring";
import { bring, itemsOf, problemText } from "../../session/bring";
import { PLATFORM } from "../../ui/keys";

export type Where = { channelId: string; target: "agent" | "host" };
export type Inserted = { text: string; problems: string[] };

/** A shell on this computer gets the files' own paths. A shell in a container gets the paths there. */
export async function wordsFor(d: Dropped, w: Where): Promise<Inserted> {
  if (w.target === "host") {
    if (d.paths.length > 0) return { text: d.paths.map((p) => `${quotePath(p, PLATFORM)} `).join(""), problems: [] };
    return { text: "", problems: ["A page in a browser does not know where a file lies. Drop it onto a terminal of the container."] };
  }
  const out: Inserted = { text: "", problems: [] };
  for (const i of itemsOf(d)) {
    try {
      out.text += `${await bring(w.channelId, i)} `;
    } catch (err) {
      out.problems.push(problemText(err));
    }
  }
  return out;
}
