// Shows a file of the container at a line, or opens it in the person's editor, from wherever it was named.
import { openPanel } from "../dock/dock";
import type { ChannelID } from "../api/types";
import { FILES_PANEL, nameOf } from "../model/file-tree";
import { fileVisitStore } from "../model/fileplace";
import { toast, toastFailure } from "../model/stores";
import type { FileRef } from "../model/terminals/filelinks";
import { programIn, TERMINAL } from "../model/terminals/panel";
import { session } from "./session";

/** A place that a text names. column: 0 or none for the line's beginning. */
export type Named = Pick<FileRef, "path" | "line"> & { column?: number };

/**
 * Opens the panel of files at a place that a text names. A relative path is below dir, else below
 * the agents' folder; one that is not there is looked for by its end, since texts leave folders out.
 */
export async function openFile(channel: ChannelID, f: Named, dir = "") {
  const path = await place(channel, f.path, dir);
  fileVisitStore.setState((v) => ({ channel, path, line: f.line, visit: v.visit + 1 }));
  openPanel({ kind: FILES_PANEL, data: null });
}

/** Opens such a place in the person's editor, which may be a terminal of this computer. */
export async function openInEditor(channel: ChannelID, f: Named, dir = "") {
  try {
    const path = await place(channel, f.path, dir);
    const made = await session().api.files.edit(channel, path, f.line, f.column ?? 0);
    if (made.cmd?.length) openPanel({ kind: TERMINAL, data: programIn(channel, made.cmd, made.dir ?? "", nameOf(path)) });
    else toast(`Opened in ${made.name}.`);
  } catch (err) {
    toastFailure(err);
  }
}

async function place(channel: ChannelID, path: string, dir: string): Promise<string> {
  const { files } = session().api;
  const isThere = (p: string) => files.read(channel, p, 1).then(() => true, () => false);
  const absolute = /^(?:[\\/]|[A-Za-z]:)/.test(path);
  const below = dir && !absolute ? `${dir.replace(/\/$/, "")}/${path}` : "";
  if (below && await isThere(below)) return below;
  if (await isThere(path)) return path;
  const end = path.replace(/^(?:\.{0,2}\/)+/, "");
  const found = await files.find(channel, end, 5, []).then((m) => m.files ?? [], () => []);
  return found.find((m) => m.path === end || m.path.endsWith(`/${end}`))?.path ?? path; // who shows it says what is wrong with it
}
