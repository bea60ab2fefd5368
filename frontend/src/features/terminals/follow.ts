// Where a link in a pane leads.
import type { Target } from "../../session/linktargets";
import type { FileRef } from "../../model/terminals/filelinks";
import { follow } from "../../session/links";
import { openFile, openInEditor } from "../../session/openfile";
import { session } from "../../session/session";
import type { Where } from "./files";

/** Follows a link. Returns a file that only this computer has, which the pane shows itself. dir: the shell's folder. */
export async function followIn(t: Target, edit: boolean, { channelId, target }: Where, dir: string): Promise<FileRef | null> {
  if (t.kind === "web") follow(channelId, t);
  else if (edit) await openInEditor(channelId, t.file, dir);
  else if (target === "host" && !(await inContainer(channelId, t.file.path, dir))) return t.file;
  else await openFile(channelId, t.file, dir);
  return null;
}

/** Whether a file that a shell on this computer names is one of those that the container sees. */
async function inContainer(channelId: string, path: string, dir: string): Promise<boolean> {
  const at = /^(?:[\\/]|[A-Za-z]:)/.test(path) || !dir ? path : `${dir.replace(/\/$/, "")}/${path}`;
  if (!/^(?:[\\/]|[A-Za-z]:)/.test(at)) return false;
  return session().api.files.read(channelId, at, 1).then((c) => Boolean(c.host_path), () => false);
}
