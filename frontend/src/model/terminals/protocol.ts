// One pane's side of /api/ws/terminal, without a DOM: it sends input, feeds the screen and
// acknowledges output. The caller supplies the socket, the clock and the screen.
import type { AttachedMessage, ClientMessage, ServerMessage } from "../../api/terminal-messages";
import type { TerminalExit } from "../../api/types";
import type { ClientState, Options, Wire } from "./client";

export const ACK_EVERY = 64 * 1024;
/** Fewer bytes than this are not acknowledged once all is parsed: no program waits for it, and a key's echo costs no message. */
export const ACK_IDLE = 16 * 1024;
export const INPUT_FRAME = 32 * 1024;
const BACKOFF_MS = [100, 250, 500, 1000, 2000, 4000, 8000];
const GONE = new Set(["no_session", "session_failed", "missing_field"]);

export class TerminalClient {
  state: ClientState;
  private wire: Wire | null = null;
  private open = false;
  private asked = false; // create was sent, so the session may exist
  private ready = false; // attached on this socket
  private given = 0; // bytes of output since attached
  private parsed = 0; // those of them that the screen has parsed
  private acked = 0;
  private snapshotLeft = 0;
  private epoch = 0; // number of the attachment; late news of an earlier one does not count
  private attempt = 0;
  private cancelRetry: (() => void) | null = null;
  private want: { cols: number; rows: number };
  private sent = ""; // the size asked for last
  private visible: boolean;
  private shown: boolean | null = null; // the last visible that the server got
  private done = false;

  constructor(private o: Options) {
    this.want = o.size;
    this.visible = o.visible;
    this.state = {
      state: "connecting", sessionId: "sessionId" in o.want ? o.want.sessionId : "", target: ("create" in o.want && o.want.create.target) || "agent",
      channelId: ("create" in o.want && o.want.create.channel_id) || "", title: "", cols: 0, rows: 0, exit: null, failure: null, recording: "", retries: 0,
    };
  }

  start() {
    this.connect();
  }

  /** Leaves the session without ending it. */
  dispose() {
    this.done = true;
    this.cancelRetry?.();
    this.wire?.close();
    this.wire = null;
  }

  /** Tries again now, after a failure or instead of waiting. */
  retry() {
    if (this.done || this.wire) return;
    this.attempt = 0;
    this.asked = false;
    this.set({ state: this.state.sessionId ? "reconnecting" : "connecting", failure: null });
    this.connect();
  }

  /** Sends typed or pasted bytes. False if no session is attached to take them. Nothing is kept for later: a container that comes back may have another program at the terminal. */
  input(data: Uint8Array): boolean {
    if (!this.ready || this.state.state === "ended") return false;
    for (let i = 0; i < data.length; i += INPUT_FRAME) this.wire?.send(data.subarray(i, i + INPUT_FRAME));
    return true;
  }

  /** Asks for a size. The screen takes it when the server confirms it. A size of zero is ignored. */
  resize(cols: number, rows: number) {
    if (!(cols > 0 && rows > 0)) return;
    this.want = { cols, rows };
    this.askSize();
  }

  show(visible: boolean) {
    this.visible = visible;
    if (this.ready && this.shown !== visible) {
      this.shown = visible;
      this.say({ type: "show", visible });
    }
  }

  resync() {
    if (this.ready) this.say({ type: "resync" });
  }

  record(on: boolean) {
    if (this.ready) this.say({ type: "record", on });
  }

  /** Empties the session's scrollback and screen, for all viewers. False if no session is attached. */
  clear(): boolean {
    if (this.ready) this.say({ type: "clear" });
    return this.ready;
  }

  /** Ends the program; its container stays. */
  end() {
    if (this.ready) this.say({ type: "close" });
  }

  /** Takes news that come by events and not by this socket: a container that went away, a recording that began or ended. */
  told(info: { state: "running" | "away" | "ended"; recording?: string; recording_problem?: string }) {
    const s = this.state.state;
    if (info.state === "away" && s === "live") this.set({ state: "away" });
    if (info.state === "running" && s === "away") this.set({ state: "live" });
    if ((info.recording ?? "") === this.state.recording || (s !== "live" && s !== "away")) return;
    if (!info.recording && info.recording_problem) this.o.onNotice(info.recording_problem);
    this.set({ recording: info.recording ?? "" });
  }

  /** Tells the session the pane's new colours. */
  recolor() {
    const colors = this.o.colors?.();
    if (this.ready && colors) this.say({ type: "colors", colors });
  }

  private connect() {
    this.cancelRetry?.();
    this.cancelRetry = null;
    let wire: Wire | null = null;
    const mine = () => this.wire === wire && wire !== null;
    wire = this.o.dial({
      open: () => {
        if (!mine()) return;
        this.open = true;
        this.hello();
      },
      text: (t) => mine() && this.onText(t),
      bytes: (b) => mine() && this.onBytes(b),
      close: () => mine() && this.onClose(),
    });
    this.wire = wire;
  }

  private hello() {
    const { sessionId } = this.state;
    const c = this.o.colors?.();
    const colors = c ? { colors: c } : {};
    if (sessionId) this.say({ type: "attach", session_id: sessionId, acks: true, ...colors });
    else if ("create" in this.o.want) {
      this.asked = true;
      this.say({ type: "create", ...this.o.want.create, ...this.want, acks: true, ...colors });
      this.sent = `${this.want.cols}x${this.want.rows}`;
    }
  }

  private onText(text: string) {
    let m: ServerMessage;
    try {
      m = JSON.parse(text) as ServerMessage;
    } catch {
      return;
    }
    switch (m?.type) {
      case "created":
      case "attached":
        return this.onAttached(m);
      case "resync":
        this.snapshotLeft = m.snapshot;
        this.o.screen.fresh(m.cols, m.rows);
        this.set({ cols: m.cols, rows: m.rows });
        if (m.snapshot === 0) this.o.screen.drawn();
        return this.askSize();
      case "resized":
        this.o.screen.resize(m.cols, m.rows);
        return this.set({ cols: m.cols, rows: m.rows });
      case "closed":
        return this.onEnded({ code: m.exit_code ?? 0, signal: m.signal || undefined, reason: m.message || undefined });
      case "stopped":
        return this.onEnded(this.state.exit ?? { code: 0, reason: "The session was closed." });
      case "detached":
        this.ready = false;
        return;
      case "recording":
        return this.set({ recording: m.name });
      case "error":
        return this.onError(m);
    }
  }

  private onAttached(m: AttachedMessage) {
    this.ready = true;
    this.epoch++;
    this.attempt = 0;
    this.given = this.parsed = this.acked = 0;
    this.snapshotLeft = m.snapshot;
    this.shown = true;
    if (m.type === "attached") this.sent = "";
    this.o.screen.fresh(m.cols, m.rows);
    this.set({
      state: m.state === "ended" ? "ended" : m.state === "away" ? "away" : "live", sessionId: m.session_id, target: m.target ?? this.state.target, channelId: m.channel_id ?? this.state.channelId,
      title: m.title ?? this.state.title, cols: m.cols, rows: m.rows, failure: null, retries: 0,
    });
    if (m.snapshot === 0) this.o.screen.drawn();
    if (!this.visible) this.show(false);
    this.askSize();
  }

  private onBytes(data: Uint8Array) {
    const epoch = this.epoch;
    this.given += data.length;
    const last = this.snapshotLeft > 0 && data.length >= this.snapshotLeft;
    this.snapshotLeft = Math.max(0, this.snapshotLeft - data.length);
    this.o.screen.write(data, () => {
      if (last) this.o.screen.drawn();
      if (epoch !== this.epoch) return;
      this.parsed += data.length;
      const owed = this.parsed - this.acked;
      if (owed >= ACK_EVERY || (this.parsed === this.given && owed >= ACK_IDLE)) this.ack();
    });
  }

  private ack() {
    this.acked = this.parsed;
    if (this.ready) this.say({ type: "ack", offset: this.acked });
  }

  private askSize() {
    const { cols, rows } = this.want;
    const size = `${cols}x${rows}`;
    if (!this.ready || !this.visible || this.state.state === "ended" || !(cols > 0 && rows > 0)) return;
    const has = cols === this.state.cols && rows === this.state.rows;
    if (this.sent === size || (has && this.sent === "")) return;
    this.sent = size;
    this.say({ type: "resize", rows, cols });
  }

  /** Asks for this pane's size again: another window may have changed it, and this pane is in use now. */
  claimSize() {
    if (this.want.cols !== this.state.cols || this.want.rows !== this.state.rows) {
      this.sent = "";
      this.askSize();
    }
  }

  private onError(m: Extract<ServerMessage, { type: "error" }>) {
    if (this.ready && this.state.state !== "connecting") {
      this.o.onNotice([m.message, m.remedy].filter(Boolean).join(" "), m.request === "input");
      return;
    }
    const again = GONE.has(m.error_code) || this.state.sessionId === "";
    this.set({ state: "failed", failure: {
      code: m.error_code, cause: m.message || "The terminal could not be opened.",
      remedy: m.remedy || (again ? "Open a new terminal." : "Try again."),
    } });
    this.drop();
  }

  private onEnded(exit: TerminalExit) {
    this.ready = false;
    // The screen already has all earlier output, and draws it without the socket.
    this.set({ state: "ended", exit });
    this.drop();
  }

  private drop() {
    const w = this.wire;
    this.wire = null;
    this.open = false;
    w?.close();
  }

  private onClose() {
    const opened = this.open;
    this.wire = null;
    this.open = this.ready = false;
    this.epoch++;
    if (this.done || this.state.state === "ended" || this.state.state === "failed") return;
    if (opened && this.asked && !this.state.sessionId) {
      // The session may have been made. Asking for another by itself could start an agent twice.
      this.set({ state: "failed", failure: {
        code: "offline", cause: "The connection to Loop broke while the terminal was opened.",
        remedy: "If the list of terminals does not show it, try again.",
      } });
      return;
    }
    const wait = (BACKOFF_MS[Math.min(this.attempt, BACKOFF_MS.length - 1)] ?? 8000) * (0.8 + (this.o.random ?? Math.random)() * 0.4);
    this.attempt++;
    this.set({ state: this.state.sessionId && this.state.cols > 0 ? "reconnecting" : "connecting", retries: this.attempt });
    this.cancelRetry = this.o.later(wait, () => this.connect());
  }

  private say(m: ClientMessage) {
    this.wire?.send(JSON.stringify(m));
  }

  private set(part: Partial<ClientState>) {
    this.state = { ...this.state, ...part };
    this.o.onChange(this.state);
  }
}
