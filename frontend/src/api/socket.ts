// A WebSocket of the loopback listener. The token is in the subprotocol, never in an address.
export type At = { base: string; token: string };
export type SocketEvents = { open(): void; text(text: string): void; bytes(data: Uint8Array): void; close(): void };

/** Opens the socket at a path such as “api/ws/terminal”, and returns it. The caller may use and close it at once, even before its address is known. */
export function dial(path: string, at: () => Promise<At>, events: SocketEvents) {
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
    const url = new URL(path, base);
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

