// Brings files of this computer to a channel's container. A file that the container sees is
// named by its path there. Any other file is copied into the folder of pastes.
import { isFailure, toFailure } from "../api/failure";
import type { Failure } from "../api/types";
import { filePaths } from "../model/files";
import { readFiles, readsByItself } from "../shell/clipboard";
import { session } from "./session";

const MAX_FILE = 10 * 1024 * 1024; // bytes, Loop's own limit
const NOT_SEEN = "mount";

/** A file by its path where the page learns it, else by its content. */
export type Item = { path: string } | { file: File };
export type Dropped = { paths: string[]; files: File[]; text: string };

export function itemsOf(d: Dropped): Item[] {
  return d.paths.length > 0 ? d.paths.map((path) => ({ path })) : d.files.map((file) => ({ file }));
}

export function itemName(i: Item): string {
  return "path" in i ? (i.path.split(/[\\/]/).findLast(Boolean) ?? i.path) : i.file.name || "the pasted picture";
}

/** Returns the file's path for a shell in the container. Rejects with a Failure. */
export function bring(channelId: string, i: Item): Promise<string> {
  return "path" in i ? bringPath(channelId, i.path) : bringContent(channelId, i.file);
}

async function bringPath(channelId: string, path: string): Promise<string> {
  const { terminals } = session().api;
  try {
    return await terminals.containerPath(channelId, path);
  } catch (err) {
    const f = toFailure(err);
    if (f.code !== NOT_SEEN) throw f;
  }
  try {
    return await terminals.pasteHostFile(channelId, path);
  } catch (err) {
    throw toFailure(err);
  }
}

async function bringContent(channelId: string, f: File): Promise<string> {
  const name = f.name || "The pasted picture";
  if (f.size > MAX_FILE) throw invalid(`${name} is larger than 10 MiB.`, "Copy it into the project's folder and name it there.");
  const data = await contentOf(f, name); // read before the check for emptiness: a folder has size 0 too, but cannot be read
  if (data === "") throw invalid(`${name} is empty.`, "");
  try {
    return await session().api.terminals.pasteFile(channelId, fileName(f), data);
  } catch (err) {
    throw toFailure(err);
  }
}

/** Cause and remedy of a failure, in one paragraph. */
export function problemText(err: unknown): string {
  const f = isFailure(err) ? err : toFailure(err);
  return [f.cause, f.remedy].filter(Boolean).join(" ");
}

function invalid(cause: string, remedy: string): Failure {
  return { code: "invalid_input", cause, remedy };
}

function fileName(f: File): string {
  const ext = f.type.startsWith("image/") ? f.type.slice(6).replace(/[^a-z0-9]/g, "").slice(0, 5) : "";
  return f.name || `pasted${ext ? `.${ext}` : ""}`;
}

/** The content of a file in base64. Rejects with a Failure. */
export function contentOf(f: File, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const r = new FileReader();
    r.addEventListener("load", () => resolve(String(r.result).replace(/^[^,]*,?/, "")));
    r.addEventListener("error", () => reject(invalid(`${name} cannot be read.`, "If it is a folder, take the files in it; else check its permissions.")));
    r.readAsDataURL(f);
  });
}

/** The data of a drop: files, addresses from a file manager, or text. */
export function droppedData(d: DataTransfer): Dropped {
  const paths = filePaths(d.getData("text/uri-list"));
  return { paths, files: paths.length > 0 ? [] : [...d.files], text: d.files.length > 0 || paths.length > 0 ? "" : d.getData("text/plain") };
}

/** The pasted files. None if the paste has text as well, as cells of a table do. */
export function pastedFiles(d: DataTransfer | null): File[] {
  return d && d.getData("text/plain") === "" ? [...d.files] : [];
}

/** Whether a paste may have files that its event lacks. On WebKitGTK only the clipboard itself has them. */
export function hiddenFiles(d: DataTransfer | null): boolean {
  return readsByItself() && (d === null || (d.getData("text/plain") === "" && d.getData("text/html") === ""));
}

export async function clipboardFiles(): Promise<Dropped> {
  const { pictures, uriList } = await readFiles();
  const paths = filePaths(uriList);
  return { paths, files: paths.length > 0 ? [] : pictures.map((p) => new File([p], "", { type: p.type })), text: "" };
}
