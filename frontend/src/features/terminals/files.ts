// Files for a program: as paths that it can open, quoted for its shell.
import { toFailure } from "../../api/failure";
import { filePaths, quotePath } from "../../model/terminals/quote";
import { session } from "../frame/session";
import { platform } from "./keyboard";

export const MAX_FILE = 10 * 1024 * 1024;

export type Where = { channelId: string; target: "agent" | "host" };
export type Inserted = { text: string; problems: string[] };

/** Paths of this computer: as they are for a host shell, else as the container has them. */
export async function insertPaths(paths: string[], w: Where): Promise<Inserted> {
  const out: Inserted = { text: "", problems: [] };
  const words: string[] = [];
  for (const p of paths) {
    if (w.target === "host") {
      words.push(quotePath(p, platform()));
      continue;
    }
    try {
      words.push(await session().api.terminals.containerPath(w.channelId, p));
    } catch (err) {
      const f = toFailure(err);
      out.problems.push([f.cause, f.remedy].filter(Boolean).join(" "));
    }
  }
  out.text = words.map((x) => `${x} `).join("");
  return out;
}

/** Content without a path: kept in the channel's folder for pastes. */
export async function insertFiles(files: File[], w: Where): Promise<Inserted> {
  const out: Inserted = { text: "", problems: [] };
  if (w.target === "host") {
    out.problems.push("A page in a browser does not know where a file lies. Drop it onto a terminal of the container.");
    return out;
  }
  for (const f of files) {
    if (f.size > MAX_FILE) {
      out.problems.push(`${f.name || "The file"} is larger than 10 MB. Copy it into the project's folder instead.`);
      continue;
    }
    try {
      out.text += `${await session().api.terminals.pasteFile(w.channelId, fileName(f), await base64(f))} `;
    } catch (err) {
      const x = toFailure(err);
      out.problems.push([x.cause, x.remedy].filter(Boolean).join(" "));
    }
  }
  return out;
}

function fileName(f: File): string {
  const ext = f.type.startsWith("image/") ? f.type.slice(6).replace(/[^a-z0-9]/g, "").slice(0, 5) : "";
  return f.name || `pasted${ext ? `.${ext}` : ""}`;
}

function base64(f: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const r = new FileReader();
    r.addEventListener("load", () => resolve(String(r.result).replace(/^[^,]*,/, "")));
    r.addEventListener("error", () => reject(new Error("the file cannot be read")));
    r.readAsDataURL(f);
  });
}

/** A drop as the browser reports it: files, or addresses from a file manager, or text. */
export function droppedData(d: DataTransfer): { paths: string[]; files: File[]; text: string } {
  const paths = filePaths(d.getData("text/uri-list"));
  return { paths, files: paths.length > 0 ? [] : [...d.files], text: d.files.length > 0 || paths.length > 0 ? "" : d.getData("text/plain") };
}
