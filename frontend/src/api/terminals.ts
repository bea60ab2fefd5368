// The socket of a terminal pane, and the text of a recording. Both come from the loopback
// listener. The token is in the subprotocol or a header, never in an address.
import type { Failure } from "./types";
import { isFailure } from "./failure";

export type At = { base: string; token: string };
export type SocketEvents = { open(): void; text(text: string): void; bytes(data: Uint8Array): void; close(): void };

/** Returns a socket that the caller may use and close at once, even before its address is known. */
export function dialTerminal(at: () => Promise<At>, events: SocketEvents) {
  let socket: WebSocket | null = null;
  let over = false;
  const end = () => {
    if (over) return;
    over = true;
    // The caller may not have the returned socket yet, so the event comes later.
    queueMicrotask(() => events.close());
  };
  at().then(({ base, token }) => {
    if (over) return;
    const url = new URL("api/ws/terminal", base);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.hash = url.search = "";
    const s = new WebSocket(url, ["loop", `loop.token.${token}`]);
    s.binaryType = "arraybuffer";
    socket = s;
    s.addEventListener("open", () => over || events.open());
    s.addEventListener("message", (e: MessageEvent<unknown>) => {
      if (over) return;
      if (typeof e.data === "string") events.text(e.data);
      else if (e.data instanceof ArrayBuffer) events.bytes(new Uint8Array(e.data));
    });
    s.addEventListener("close", end);
  }).catch(end);
  return {
    send(data: string | Uint8Array) {
      if (socket?.readyState === WebSocket.OPEN) socket.send(data as string | Uint8Array<ArrayBuffer>);
    },
    close() {
      over = true;
      socket?.close(1000);
    },
  };
}

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
