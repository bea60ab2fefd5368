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

type Taker = { focus(): void; client: { state: Where }; term: { paste(text: string): void } };

/** Types the words of files into a terminal. It takes the keyboard at once and not after the upload, when the person may type elsewhere. */
export async function insertFiles(p: Taker, d: Dropped, notice: (text: string) => void) {
  if (d.paths.length + d.files.length === 0) return;
  p.focus();
  const got = await wordsFor(d, p.client.state);
  if (got.problems[0]) notice(got.problems[0]);
  if (got.text) p.term.paste(got.text);
}
