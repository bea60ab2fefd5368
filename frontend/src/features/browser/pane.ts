// One pane on a channel's browser: its socket, what it shows, and its frames. It connects
// while it is mounted, and comes back by itself when the socket is lost.
import { createStore } from "zustand/vanilla";
import type { BrowserCommand, BrowserInput, BrowserLine, BrowserRequest, BrowserResult, BrowserState, BrowserTarget, BrowserView } from "../../api/browser-messages";
import { firstView, readFrame, readUpdate } from "../../api/browser-messages";
import { dial } from "../../api/socket";
import type { DeviceID } from "../../model/browser/place";
import { viewOf } from "../../model/browser/place";
import { toast } from "../../model/stores";
import { session } from "../../session/session";
import { copyText } from "../../shell/clipboard";

export type Drawer = "" | "console" | "network";
export type Shown = {
  link: "connecting" | "open" | "lost";
  state: BrowserState | null;
  error: string; // of the last act, until the next
  painted: boolean; // there is a picture
  device: DeviceID;
  drawer: Drawer;
  lines: BrowserLine[];
  requests: BrowserRequest[];
  finding: boolean;
  picking: boolean;
  picked: BrowserTarget | null;
};

const MAX_LINES = 500;
const DRAWER_MS = 500; // between two looks for new lines
const RETRY_MS = [300, 1000, 3000, 5000];

export class BrowserPane {
  readonly store = createStore<Shown>(() => ({
    link: "connecting", state: null, error: "", painted: false, device: "fit", drawer: "", lines: [], requests: [], finding: false, picking: false, picked: null,
  }));
  private socket: ReturnType<typeof dial> | null = null;
  private canvas: HTMLCanvasElement | null = null;
  private view: BrowserView = firstView;
  private size = { width: firstView.width, height: firstView.height };
  private acts = new Map<number, (r: BrowserResult) => void>();
  private nextAct = 1;
  private failures = 0;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private looking: ReturnType<typeof setInterval> | undefined;
  private move: BrowserInput | null = null;
  private over = false;
  private keyboard: HTMLElement | null = null;

  constructor(readonly channelId: string) {}

  /** Connects. The returned function ends the pane. */
  begin(canvas: HTMLCanvasElement): () => void {
    this.canvas = canvas;
    this.over = false;
    this.connect();
    return () => {
      this.over = true;
      clearTimeout(this.retry);
      clearInterval(this.looking);
      this.send({ type: "stop" });
      this.socket?.close();
      this.canvas = null;
    };
  }

  private connect() {
    this.store.setState({ link: this.failures === 0 ? "connecting" : "lost" });
    this.socket = dial("api/ws/browser", () => session().endpoint(), {
      open: () => {
        this.failures = 0;
        this.store.setState({ link: "open" });
        this.send({ type: "start", channel_id: this.channelId, view: this.view });
      },
      text: (raw) => this.take(raw),
      bytes: (data) => void this.paint(data),
      close: () => {
        if (this.over) return;
        this.store.setState({ link: "lost" });
        for (const answer of this.acts.values()) answer({ result: "", error: "The connection to Loop was lost.", image: "", target: null });
        this.acts.clear();
        this.retry = setTimeout(() => this.connect(), RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)]);
      },
    });
  }

  send(m: BrowserCommand) {
    this.socket?.send(JSON.stringify(m));
  }

  /** Sends an input. Moves wait for the next frame of the page, and the newest counts. */
  input(input: BrowserInput) {
    if (input.kind !== "mousemove") {
      this.flushMove();
      this.send({ type: "input", input });
      return;
    }
    if (!this.move) requestAnimationFrame(() => this.flushMove());
    this.move = input;
  }

  private flushMove() {
    const input = this.move;
    this.move = null;
    if (input) this.send({ type: "input", input });
  }

  /** Does what a button says, and shows what went wrong. */
  async act(action: string, params: Record<string, unknown> = {}): Promise<BrowserResult> {
    const id = this.nextAct++;
    this.store.setState({ error: "" });
    const answer = new Promise<BrowserResult>((resolve) => this.acts.set(id, resolve));
    this.send({ type: "act", id, action, params });
    const res = await answer;
    if (res.error) this.store.setState({ error: res.error });
    return res;
  }

  private take(raw: string) {
    const u = readUpdate(raw);
    switch (u?.type) {
      case "state":
        this.store.setState({ state: u.state, ...(u.state.phase === "running" ? {} : { picking: false, picked: null }) });
        break;
      case "result":
        this.acts.get(u.id)?.(u.result);
        this.acts.delete(u.id);
        break;
      case "console":
        this.store.setState((s) => ({ lines: [...s.lines, ...u.lines].slice(-MAX_LINES) }));
        break;
      case "network":
        this.store.setState((s) => {
          const by = new Map(s.requests.map((r) => [r.seq, r]));
          for (const r of u.requests) by.set(r.seq, r);
          return { requests: [...by.values()].sort((a, b) => a.seq - b.seq).slice(-MAX_LINES) };
        });
        break;
      case "clipboard":
        void copyText(u.text).then((done) => toast(done ? "Copied from the page." : "The clipboard refused the text."));
        break;
      case "error":
        this.store.setState({ error: u.message });
        break;
    }
  }

  /** Paints a frame, then says so: the browser draws on when it is painted. */
  private async paint(data: Uint8Array) {
    const frame = readFrame(data);
    if (!frame) return;
    const url = URL.createObjectURL(new Blob([frame.jpeg], { type: "image/jpeg" }));
    try {
      const img = new Image();
      img.src = url;
      await img.decode();
      const canvas = this.canvas;
      if (canvas) {
        if (canvas.width !== img.naturalWidth || canvas.height !== img.naturalHeight) Object.assign(canvas, { width: img.naturalWidth, height: img.naturalHeight });
        canvas.getContext("2d")?.drawImage(img, 0, 0);
        canvas.dataset.frame = String(frame.id);
        if (!this.store.getState().painted) this.store.setState({ painted: true });
      }
    } catch {
      // a picture that cannot be read is as good as painted
    } finally {
      URL.revokeObjectURL(url);
      this.send({ type: "painted", id: frame.id });
    }
  }

  /** The pane has another size. */
  resized(width: number, height: number) {
    if (width < 1 || height < 1) return;
    this.size = { width, height };
    if (this.store.getState().device === "fit") this.layOut({});
  }

  choose(device: DeviceID) {
    this.store.setState({ device });
    this.layOut({});
  }

  /** Lays the page out anew, with a part of the view changed. */
  layOut(part: Partial<BrowserView>) {
    const now = this.store.getState();
    const view = viewOf(now.device, this.size, window.devicePixelRatio, { ...this.view, ...part });
    if (JSON.stringify(view) === JSON.stringify(this.view)) return;
    this.view = view;
    this.send({ type: "view", view });
  }

  /** Opens a drawer, or closes it with "". While one is open it is kept up to date. */
  open(drawer: Drawer) {
    this.store.setState({ drawer });
    clearInterval(this.looking);
    if (drawer === "") return;
    const look = () => {
      const { lines, requests } = this.store.getState();
      if (drawer === "console") this.send({ type: "drawer", console_after: lines.at(-1)?.seq ?? 0 });
      else this.send({ type: "drawer", network_after: Math.max(0, ...requests.map((r) => r.rev)) });
    };
    look();
    this.looking = setInterval(look, DRAWER_MS);
  }

  clear() {
    const { lines } = this.store.getState();
    this.store.setState({ lines: lines.slice(-1), requests: [] });
  }

  /** The element that takes the page's keys. */
  know(keyboard: HTMLElement | null) {
    this.keyboard = keyboard;
  }

  focusPage() {
    this.keyboard?.focus();
  }

  baton() {
    this.send({ type: this.store.getState().state?.driver === "person" ? "give" : "take" });
  }

  toggle(part: "finding" | "picking") {
    this.store.setState((s) => ({ [part]: !s[part], picked: null }));
  }

  /** The picture that the pane shows, for the prompt. */
  picture(): Promise<Blob | null> {
    return new Promise((resolve) => {
      if (this.canvas && this.store.getState().painted) this.canvas.toBlob(resolve, "image/png");
      else resolve(null);
    });
  }
}

const panes = new Map<string, BrowserPane>();

/** The pane of a channel. It keeps its device and drawers while its panel is closed. */
export function paneOf(channelId: string): BrowserPane {
  let p = panes.get(channelId);
  if (!p) panes.set(channelId, (p = new BrowserPane(channelId)));
  return p;
}
