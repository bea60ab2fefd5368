// Files of this computer for a channel's container: named by their path there,
// copied to where pastes go if it does not see them.
import { isFailure, toFailure } from "../api/failure";
import type { Failure } from "../api/types";
import { filePaths } from "../model/files";
import { readFiles, readsByItself } from "../shell/clipboard";
import { session } from "./session";

const MAX_FILE = 10 * 1024 * 1024; // as Loop takes it
const NOT_SEEN = "mount";

/** By its path where the surroundings tell it, else by its content. */
export type Item = { path: string } | { file: File };
export type Dropped = { paths: string[]; files: File[]; text: string };

export function itemsOf(d: Dropped): Item[] {
  return d.paths.length > 0 ? d.paths.map((path) => ({ path })) : d.files.map((file) => ({ file }));
}

export function itemName(i: Item): string {
  return "path" in i ? (i.path.split(/[\\/]/).findLast(Boolean) ?? i.path) : i.file.name || "the pasted picture";
}

/** How a shell in the container is told the file. Rejects with a Failure. */
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
  const data = await base64(f, name); // before its size is judged: a folder has none either
  if (data === "") throw invalid(`${name} is empty.`, "");
  try {
    return await session().api.terminals.pasteFile(channelId, fileName(f), data);
  } catch (err) {
    throw toFailure(err);
  }
}

/** What went wrong, in one paragraph. */
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

function base64(f: File, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const r = new FileReader();
    r.addEventListener("load", () => resolve(String(r.result).replace(/^[^,]*,?/, "")));
    r.addEventListener("error", () => reject(invalid(`${name} cannot be read.`, "If it is a folder, take the files in it; else look at who may read it.")));
    r.readAsDataURL(f);
  });
}

/** A drop as the browser reports it: files, or addresses from a file manager, or text. */
export function droppedData(d: DataTransfer): Dropped {
  const paths = filePaths(d.getData("text/uri-list"));
  return { paths, files: paths.length > 0 ? [] : [...d.files], text: d.files.length > 0 || paths.length > 0 ? "" : d.getData("text/plain") };
}

/** Pasted files. What has text as well, as cells of a table do, is pasted as text. */
export function pastedFiles(d: DataTransfer | null): File[] {
  return d && d.getData("text/plain") === "" ? [...d.files] : [];
}

/** WebKitGTK keeps pictures and files from the event of a paste; only the clipboard itself has them. */
export function hiddenFiles(d: DataTransfer | null): boolean {
  return readsByItself() && (d === null || (d.getData("text/plain") === "" && d.getData("text/html") === ""));
}

export async function clipboardFiles(): Promise<Dropped> {
  const { pictures, uriList } = await readFiles();
  const paths = filePaths(uriList);
  return { paths, files: paths.length > 0 ? [] : pictures.map((p) => new File([p], "", { type: p.type })), text: "" };
}
