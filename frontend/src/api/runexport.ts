// A run as one file. It comes from the loopback listener, with the token in a header.
import { isFailure } from "./failure";
import type { At } from "./socket";
import type { Failure, RunID } from "./types";

const BROKEN: Failure = { code: "offline", cause: "The export ended before it was whole.", remedy: "Try again; if it repeats, Loop's log has the reason." };

export async function fetchExport({ base, token }: At, run: RunID): Promise<{ file: Blob; name: string }> {
  let res: Response;
  try {
    res = await fetch(new URL(`api/runs/${encodeURIComponent(run)}/export`, base), { headers: { Authorization: `Bearer ${token}` }, credentials: "omit", cache: "no-store" });
    const name = /filename="([\w.-]+)"/.exec(res.headers.get("Content-Disposition") ?? "")?.[1] ?? "loop-run.zip";
    if (res.ok) return { file: await res.blob(), name };
  } catch {
    throw BROKEN;
  }
  const body: unknown = await res.json().catch(() => null);
  throw isFailure(body) ? body : BROKEN;
}
