// The bridge of a browser, which has no window.go: the same calls over HTTP, the same
// events over a WebSocket. The key is in the Authorization header or the subprotocol,
// never in an address.
import type { LoopEvent } from "../api/types";
import { DENIED, OFFLINE, isFailure } from "../api/failure";
import type { Bridge, LinkState, Position } from "./bridge";

const KEY = "loop.token";
const TOKEN = /(?:^#|&)token=([0-9a-f]+)/i;
const BACKOFF_MS = [250, 500, 1000, 2000, 4000, 8000];

/** Takes the key out of the address bar, so that no history, copy or screenshot has it. */
export function takeToken(): string {
  const m = TOKEN.exec(location.hash);
  if (m?.[1]) {
    sessionStorage.setItem(KEY, m[1]);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(KEY) ?? "";
}

export function headlessBridge(): Bridge {
  let token = takeToken();
  let link: LinkState = { state: "connecting" };
  let socket: WebSocket | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempt = 0;
  let position: () => Position | null = () => null;
  const events = new Set<(batch: LoopEvent[]) => void>();
  const links = new Set<(link: LinkState) => void>();

  function setLink(next: LinkState) {
    link = next;
    for (const l of links) l(next);
  }

  function connect() {
    clearTimeout(timer);
    socket?.close();
    const url = new URL("api/ws", document.baseURI);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.hash = "";
    const at = position();
    url.search = at ? new URLSearchParams({ launch: at.launch, since: String(at.seq) }).toString() : "";
    let s: WebSocket;
    try {
      s = new WebSocket(url, ["loop", `loop.token.${token}`]);
    } catch {
      retry();
      return;
    }
    socket = s;
    s.addEventListener("open", () => {
      if (socket !== s) return;
      attempt = 0;
      setLink({ state: "online" });
    });
    s.addEventListener("message", (e) => {
      if (socket !== s || typeof e.data !== "string") return;
      const batch: unknown = JSON.parse(e.data);
      if (Array.isArray(batch)) for (const l of events) l(batch as LoopEvent[]);
    });
    s.addEventListener("close", () => {
      if (socket !== s) return;
      socket = null;
      retry();
    });
  }

  function retry() {
    const wait = (BACKOFF_MS[Math.min(attempt, BACKOFF_MS.length - 1)] ?? 8000) * (0.8 + Math.random() * 0.4);
    attempt++;
    const since = link.state === "offline" ? link.since : Date.now();
    setLink({ state: "offline", since, retryAt: Date.now() + wait });
    timer = setTimeout(() => void probe(), wait);
  }

  // A refused WebSocket gives no reason, but a call does. 401 means that this page
  // belongs to an earlier launch, and that no further try can help.
  async function probe() {
    try {
      await invoke("System", "ImageStatus", []);
    } catch (err) {
      if (isFailure(err) && err.code === DENIED) return;
      if (isFailure(err) && err.code === OFFLINE) {
        retry();
        return;
      }
    }
    connect();
  }

  async function invoke(service: string, method: string, args: unknown[]): Promise<unknown> {
    let res: Response;
    try {
      res = await fetch(new URL(`api/call/${service}.${method}`, document.baseURI), {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
        body: JSON.stringify(args),
        cache: "no-store",
        credentials: "omit",
      });
    } catch {
      throw { code: OFFLINE, cause: "Loop does not answer.", remedy: "Start it again with “loop serve” or “make run”; this page reconnects by itself." };
    }
    if (res.status === 401 || res.status === 403) {
      clearTimeout(timer);
      setLink({ state: "denied" });
      throw { code: DENIED, cause: "The key of this page is not valid.", remedy: "Open the address that “loop serve” printed, with everything after the #." };
    }
    const body: unknown = await res.json().catch(() => null);
    if (res.ok) return body;
    if (isFailure(body)) throw body;
    throw { code: "internal", cause: `Loop answered with ${res.status}.`, remedy: "Reload the page; if it repeats, look at Loop's log.", detail: `${service}.${method}: HTTP ${res.status}` };
  }

  // A person who pastes the printed address into an open page changes only the hash.
  window.addEventListener("hashchange", () => {
    if (!TOKEN.test(location.hash)) return; // a link to something in the page
    token = takeToken();
    attempt = 0;
    connect();
  });
  window.addEventListener("online", () => {
    if (link.state === "offline") connect();
  });
  if (token) connect();
  else link = { state: "denied" };

  return {
    kind: "headless",
    invoke: (service, method, args) => {
      // The page runs in the person's browser, so it opens a tab itself.
      if (service === "System" && method === "OpenURL") return openTab(String(args[0]));
      return invoke(service, method, args);
    },
    onEvents(l) {
      events.add(l);
      return () => events.delete(l);
    },
    onLink(l) {
      links.add(l);
      l(link);
      return () => links.delete(l);
    },
    onAsk() {},
    reconnect() {
      attempt = 0;
      void probe();
    },
    endpoint: () => Promise.resolve({ base: new URL(".", document.baseURI).href, token }),
    resumeAt(where) {
      position = where;
    },
  };
}

async function openTab(address: string): Promise<null> {
  const u = new URL(address);
  if (u.protocol !== "http:" && u.protocol !== "https:") {
    throw { code: "invalid_input", cause: "Loop opens web addresses only.", remedy: "Copy the link if you trust it." };
  }
  window.open(u.href, "_blank", "noopener,noreferrer");
  return null;
}
