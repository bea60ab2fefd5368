// Shows a file of the container at a line, from wherever it was named.
import { openPanel } from "../dock/dock";
import type { ChannelID } from "../api/types";
import { FILES_PANEL } from "../model/file-tree";
import { fileVisitStore } from "../model/fileplace";
import type { FileRef } from "../model/terminals/filelinks";
import { session } from "./session";

/**
 * Opens the panel of files at a place that a text names. A relative path is below the agents'
 * folder; one that is not there is looked for by its end, since texts leave folders out.
 */
export async function openFile(channel: ChannelID, f: Pick<FileRef, "path" | "line">) {
  const path = await place(channel, f.path);
  fileVisitStore.setState((v) => ({ channel, path, line: f.line, visit: v.visit + 1 }));
  openPanel({ kind: FILES_PANEL, data: null });
}

async function place(channel: ChannelID, path: string): Promise<string> {
  const { files } = session().api;
  try {
    await files.read(channel, path, 1);
  } catch {
    const end = path.replace(/^\.?\//, "");
    const found = await files.find(channel, end, 5, []).then((m) => m.files ?? [], () => []);
    return found.find((m) => m.path === end || m.path.endsWith(`/${end}`))?.path ?? path; // the panel says what is wrong with it
  }
  return path;
}
