// The files of a channel's container, as a tree of the folders that are open.
import type { ContainerFile, Failure, FileListing } from "../api/types";

/** The kind of the panel. */
export const FILES_PANEL = "files";

/** What comes back with the panel: the file that it shows, at a line. */
export type FilesKept = { file: string; line: number };

export const readKept = ({ file, line }: Record<string, unknown>): FilesKept | null =>
  typeof file === "string" && file !== "" && file.length <= 4096 ? { file, line: typeof line === "number" && line > 0 ? Math.floor(line) : 0 } : null;

/** A folder that was asked for: what is in it, or why that is not known. */
export type Folder = { listing: FileListing | null; failure: Failure | null };
export type Folders = ReadonlyMap<string, Folder>;

export type TreeRow =
  | { kind: "file"; path: string; level: number; file: ContainerFile; folder: boolean; open: boolean }
  | { kind: "word"; path: string; level: number; text: string; failure: Failure | null; reading: boolean };

export const joined = (dir: string, name: string): string => (dir === "/" ? `/${name}` : `${dir}/${name}`);

/** The folder above, which of the root is the root itself. */
export const above = (path: string): string => path.replace(/\/[^/]*$/, "") || "/";

export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1) || "/";

const rank = (f: ContainerFile): number => (f.kind === "folder" ? 0 : 1);

/** Folders first, each by name as people sort: numbers by value, small and large letters alike. */
export function inOrder(files: readonly ContainerFile[]): ContainerFile[] {
  const c = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  return [...files].sort((a, b) => rank(a) - rank(b) || c.compare(a.name, b.name) || (a.name < b.name ? -1 : 1));
}

/**
 * The rows of a folder and of the folders in it that are open. A filter leaves those whose
 * name has its words, and the folders that lead to them. A link is a folder once it was
 * opened as one.
 */
export function rowsOf(root: string, folders: Folders, open: ReadonlySet<string>, filter = ""): TreeRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (f: ContainerFile) => words.every((w) => f.name.toLowerCase().includes(w));
  const below = (dir: string, level: number): TreeRow[] => {
    const at = folders.get(dir);
    const word = (text: string, more: { failure?: Failure; reading?: boolean } = {}): TreeRow => ({ kind: "word", path: dir, level, text, failure: more.failure ?? null, reading: more.reading ?? false });
    if (!at) return [word("Reading the folder", { reading: true })];
    if (at.failure) return [word(at.failure.cause, { failure: at.failure })];
    const files = inOrder(at.listing?.files ?? []);
    const rows = files.flatMap((file): TreeRow[] => {
      const path = joined(dir, file.name);
      const folder = file.kind === "folder" || (file.kind === "link" && folders.has(path));
      const isOpen = folder && open.has(path);
      const inside = isOpen ? below(path, level + 1) : [];
      if (words.length > 0 && !fits(file) && !inside.some((r) => r.kind === "file")) return [];
      return [{ kind: "file", path, level, file, folder, open: isOpen }, ...inside];
    });
    if (files.length === 0) rows.push(word("Nothing is in this folder."));
    if (at.listing?.left) rows.push(word(at.listing.left));
    return rows;
  };
  return below(root, 1);
}

/** What is typed to find a row. */
export const rowWords = (r: TreeRow): string => (r.kind === "word" ? r.text : r.file.name);

const LANGUAGES: Record<string, string> = {
  bash: "bash", c: "c", cc: "cpp", cjs: "javascript", cpp: "cpp", css: "css", cts: "typescript", diff: "diff", go: "go", h: "c", hpp: "cpp", htm: "html", html: "html", java: "java",
  js: "javascript", json: "json", jsonc: "jsonc", jsx: "tsx", kt: "kotlin", lua: "lua", md: "markdown", mjs: "javascript", mk: "make", mts: "typescript", patch: "diff", php: "php",
  py: "python", rb: "ruby", rs: "rust", sh: "bash", sql: "sql", svg: "xml", swift: "swift", toml: "toml", ts: "typescript", tsx: "tsx", xml: "xml", yaml: "yaml", yml: "yaml", zsh: "bash",
};
const NAMES: Record<string, string> = { dockerfile: "dockerfile", makefile: "make", gnumakefile: "make", "go.mod": "go" };

/** The language by which a file is coloured; empty for none. */
export function languageOf(path: string): string {
  const name = nameOf(path).toLowerCase();
  return NAMES[name] ?? LANGUAGES[/\.([^.]+)$/.exec(name)?.[1] ?? ""] ?? "";
}
