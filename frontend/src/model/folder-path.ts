// The path that is typed into the chooser of folders, and what it can become.
import type { Folder } from "../api/types";

/** The separator of a computer's paths, by one of them. */
export const separatorOf = (path: string): string => (/^([a-z]:|\\\\)/i.test(path) && !path.startsWith("/") ? "\\" : "/");

/** A typed path in two: the folder that it is in, with its separator, and the beginning of a name. */
export function splitTyped(typed: string, sep: string): { dir: string; start: string } {
  const at = Math.max(typed.lastIndexOf("/"), sep === "\\" ? typed.lastIndexOf("\\") : -1);
  return { dir: typed.slice(0, at + 1), start: typed.slice(at + 1) };
}

/** Whether two texts name the same folder: a separator at the end says nothing. */
export function samePath(a: string, b: string): boolean {
  const bare = (p: string) => (p.length > 1 ? p.replace(/[\\/]+$/, "") || p.slice(0, 1) : p);
  return bare(a) === bare(b);
}

const begins = (name: string, start: string) => name.toLowerCase().startsWith(start.toLowerCase());

/** The folders that are shown: those that begin as typed; hidden ones only if asked for, or typed with their dot. */
export function shownFolders(all: Folder[], start: string, hidden: boolean): Folder[] {
  return all.filter((f) => begins(f.name, start) && (hidden || start.startsWith(".") || !f.name.startsWith(".")));
}

/** What Tab makes of a typed path: as much as all that fit have in common, and all of a single one. "" if that is nothing new. */
export function completed(typed: string, fits: Folder[], sep: string): string {
  const { dir, start } = splitTyped(typed, sep);
  const [first, ...others] = fits.map((f) => f.name);
  if (first === undefined || !start) return "";
  if (others.length === 0) return `${dir}${first}${sep}`;
  let common = first;
  for (const name of others) while (!begins(name, common)) common = common.slice(0, -1);
  return common.length > start.length ? dir + common : "";
}
