// Files that a person gives to a page: each is sent to Loop, which keeps it where Chromium finds it.
import { isFailure } from "./failure";
import type { At } from "./socket";
import type { Failure } from "./types";

export const MAX_FILE = 64 * 1024 * 1024; // bytes, Loop's own limit

const fail = (cause: string, remedy: string): Failure => ({ code: "invalid_input", cause, remedy });

/** Sends a file, and returns its path for Chromium. Rejects with a Failure. */
export async function sendFile({ base, token }: At, channelId: string, file: File): Promise<string> {
  if (file.size > MAX_FILE) throw fail(`${file.name} is larger than 64 MiB.`, "Copy it into the project's folder, and let the agent upload it from there.");
  const url = new URL("api/browser/files", base);
  url.searchParams.set("channel_id", channelId);
  url.searchParams.set("name", file.name);
  let answer: unknown;
  let ok = false;
  try {
    const res = await fetch(url, { method: "POST", headers: { Authorization: `Bearer ${token}` }, body: file, cache: "no-store", credentials: "omit" });
    ok = res.ok;
    answer = await res.json();
  } catch {
    throw fail(`${file.name} did not reach Loop.`, "If it is a folder, take the files in it; else try again.");
  }
  const path = typeof answer === "object" && answer !== null && "path" in answer ? answer.path : undefined;
  if (ok && typeof path === "string" && path !== "") return path;
  throw isFailure(answer) ? answer : fail(`Loop did not take ${file.name}.`, "Try again.");
}
