// The pictures of pages that runs have shown. They come from the loopback listener, with
// the token in a header.
import { isFailure } from "./failure";
import type { At } from "./socket";
import type { Failure } from "./types";

const NOTHING: Failure = { code: "offline", cause: "The picture could not be read.", remedy: "Try again; if it repeats, look whether Loop still answers." };

/** The picture of a frame. Its hash is in the address, so the browser keeps what it has read. */
export async function fetchFrame({ base, token }: At, id: number, picture: string): Promise<Blob> {
  let res: Response;
  try {
    res = await fetch(new URL(`api/frames/${id}/${encodeURIComponent(picture)}`, base), { headers: { Authorization: `Bearer ${token}` }, credentials: "omit" });
    if (res.ok) return await res.blob();
  } catch {
    throw NOTHING;
  }
  const body: unknown = await res.json().catch(() => null);
  throw isFailure(body) ? body : NOTHING;
}
