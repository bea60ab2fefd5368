// The socket of a pane: it connects while the pane is mounted, and comes back by itself when
// it is lost. It sends what a person does, and paints the frames.
import type { BrowserCommand, BrowserInput, BrowserResult, BrowserState, BrowserView } from "../../api/browser-messages";
import { firstView, readFrame, readUpdate } from "../../api/browser-messages";
import { dial } from "../../api/socket";
import { createStore } from "zustand/vanilla";
import { toast } from "../../model/stores";
import { session } from "../../session/session";
import { copyText, NOT_COPIED } from "../../shell/clipboard";
import type { Shown } from "./shown";
import { begun } from "./shown";

const MAX_LINES = 500;
const RETRY_MS = [300, 1000, 3000, 5000];
const NONE: BrowserResult = { result: "", error: "", image: "", target: null };
const LOST: BrowserResult = { ...NONE, error: "The connection to Loop was lost." };

export abstract class PaneLink {
  readonly store = createStore<Shown>(() => begun);
  protected view: BrowserView = firstView;
  protected nextAct = 1;
  protected canvas: HTMLCanvasElement | null = null;
  private socket: ReturnType<typeof dial> | null = null;
  private acts = new Map<number, (r: BrowserResult) => void>();
  private failures = 0;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private move: BrowserInput | null = null;
  private over = false;
  private seen = false;
  private drawn = 0; // number of the newest frame that was painted

  constructor(readonly channelId: string) {}

  protected abstract arrived(state: BrowserState): void;
  protected abstract follow(): void;
  protected abstract left(): void;

  /** Begins a pane, which connects when it is seen first. The returned function ends it. */
  begin(canvas: HTMLCanvasElement): () => void {
    this.canvas = canvas;
    this.over = false;
    this.seen = false;
    return () => {
      this.over = true;
      clearTimeout(this.retry);
      this.send({ type: "stop" });
      this.socket?.close();
      this.socket = null;
      this.canvas = null;
      this.dropActs();
      this.left();
    };
  }

  /** Says whether anybody can see the pane. Out of sight it gets no pictures. */
  see(seen: boolean) {
    if (this.seen === seen || !this.canvas) return;
    this.seen = seen;
    if (this.socket) this.send({ type: seen ? "back" : "away" });
    else if (seen) this.connect();
  }

  private connect() {
    this.store.setState({ link: this.failures === 0 ? "connecting" : "lost" });
    this.drawn = 0;
    this.socket = dial("api/ws/browser", () => session().endpoint(), {
      open: () => {
        this.failures = 0;
        this.store.setState({ link: "open", lines: [], requests: [] }); // Loop may have begun anew meanwhile
        this.send({ type: "start", channel_id: this.channelId, view: this.view });
        if (!this.seen) this.send({ type: "away" });
        this.follow();
      },
      text: (raw) => this.take(raw),
      bytes: (data) => void this.paint(data),
      close: () => {
        if (this.over) return;
        this.store.setState({ link: "lost", picking: false, picked: null });
        this.dropActs();
        this.socket = null;
        if (this.seen) this.retry = setTimeout(() => this.connect(), RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)]);
      },
    });
  }

  private dropActs() {
    for (const answer of this.acts.values()) answer(LOST);
    this.acts.clear();
  }

  get open(): boolean {
    return this.canvas !== null;
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
    this.store.setState({ error: "" });
    const res = await this.ask(action, params);
    if (res.error) this.store.setState({ error: res.error });
    return res;
  }

  /** Does what a button says. What went wrong is the caller's to show. */
  protected ask(action: string, params: Record<string, unknown>): Promise<BrowserResult> {
    if (this.store.getState().link !== "open") return Promise.resolve(LOST);
    const id = this.nextAct++;
    const answer = new Promise<BrowserResult>((resolve) => this.acts.set(id, resolve));
    this.send({ type: "act", id, action, params });
    return answer;
  }

  private take(raw: string) {
    const u = readUpdate(raw);
    switch (u?.type) {
      case "state":
        this.arrived(u.state);
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
        void copyText(u.text).then((done) => toast(done ? "Copied from the page." : NOT_COPIED));
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
      if (canvas && (this.drawn === 0 || ((frame.id - this.drawn) | 0) > 0)) {
        this.drawn = frame.id;
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
}
