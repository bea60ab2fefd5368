// The socket of a terminal pane, and the text of a recording. Both come from the loopback
// listener. The token is in the subprotocol or a header, never in an address.
import type { Failure } from "./types";
import { isFailure } from "./failure";
import type { At, SocketEvents } from "./socket";
import { dial } from "./socket";

export type { At, SocketEvents } from "./socket";

/** Returns a socket that the caller may use and close at once, even before its address is known. */
export const dialTerminal = (at: () => Promise<At>, events: SocketEvents) => dial("api/ws/terminal", at, events);

/** The text of a recording. Reading stops with the chunk that passes limit bytes. */
export async function fetchRecording({ base, token }: At, name: string, limit: number, signal?: AbortSignal): Promise<string> {
  const nothing: Failure = { code: "offline", cause: "The recording could not be read.", remedy: "Try again; if it repeats, look whether the recording still exists." };
  let res: Response;
  try {
    res = await fetch(new URL(`api/recordings/${encodeURIComponent(name)}`, base), { headers: { Authorization: `Bearer ${token}` }, cache: "no-store", credentials: "omit", signal });
  } catch {
    throw nothing;
  }
  if (res.ok && res.body) {
    const reader = res.body.getReader();
    const decoder = new TextDecoder();
    const parts: string[] = [];
    let size = 0;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return parts.join("") + decoder.decode();
        parts.push(decoder.decode(value, { stream: true }));
        size += value.length;
        if (size > limit) {
          void reader.cancel();
          return parts.join("");
        }
      }
    } catch {
      throw nothing;
    }
  }
  const body: unknown = await res.json().catch(() => null);
  throw isFailure(body) ? body : nothing;
}
