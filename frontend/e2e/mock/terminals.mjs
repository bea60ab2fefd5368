// Mock terminal sessions: /api/ws/terminal, the calls of bind.Terminals and
// recordings, with programs that tests can script. A headless xterm.js keeps the
// screen, as backend/terminal/vt does for real sessions.
import { createRequire } from "node:module";
import { attachViewer } from "./termsocket.mjs";
import { programs } from "./programs.mjs";
import { fail, newID } from "./world.mjs";

const require = createRequire(import.meta.url);
const { Terminal } = require("@xterm/headless");
const { SerializeAddon } = require("@xterm/addon-serialize");
const { Unicode11Addon } = require("@xterm/addon-unicode11");

export const HIGH = 512 * 1024;
export const LOW = 128 * 1024;

export class Session {
  constructor(owner, spec) {
    this.owner = owner;
    this.id = newID();
    this.spec = spec;
    this.cols = spec.cols || 80;
    this.rows = spec.rows || 24;
    this.title = spec.title || (spec.cmd?.[0] ?? "bash");
    this.named = Boolean(spec.title);
    this.state = "running";
    this.exit = null;
    this.recording = "";
    this.shell = ""; // "prompt" or "running", as its marks say
    this.command = "";
    this.cast = null;
    this.createdAt = owner.world.now();
    this.input = Buffer.alloc(0); // all typed bytes
    this.sizes = [`${this.cols}x${this.rows}`]; // all sizes that were asked for
    this.viewers = new Set();
    this.offset = 0;
    this.onInput = () => {};
    this.onResize = () => {};
    this.waiting = []; // programs that wait for viewers to catch up
    this.vt = new Terminal({ cols: this.cols, rows: this.rows, scrollback: 10_000, allowProposedApi: true, logLevel: "off" });
    this.serializer = new SerializeAddon();
    this.vt.loadAddon(this.serializer);
    this.vt.loadAddon(new Unicode11Addon());
    this.vt.unicode.activeVersion = "11";
  }

  info() {
    return {
      session_id: this.id, channel_id: this.spec.channel_id ?? "", target: this.spec.target || "agent", state: this.state, title: (!this.named && this.command) || this.title, named: this.named,
      dir: "/home/ana/src/api-server", cmd: this.spec.cmd ?? null, exit: this.exit, cols: this.cols, rows: this.rows, viewers: this.viewers.size,
      ...(this.spec.plain ? { plain: true } : {}), ...(this.shell ? { shell: this.shell } : {}), ...(this.command ? { command: this.command } : {}),
      recording: this.recording, created_at: new Date(this.createdAt).toISOString(),
    };
  }

  /** Prints; resolves once every viewer is below the high mark. */
  write(data) {
    const bytes = Buffer.isBuffer(data) ? data : Buffer.from(data, "utf8");
    this.offset += bytes.length;
    this.vt.write(bytes);
    this.marks(bytes);
    this.cast?.events.push([(this.owner.world.now() - this.cast.began) / 1000, "o", bytes.toString("utf8")]);
    for (const v of this.viewers) v.give(bytes);
    return this.room();
  }

  /** Follows the shell's marks, as a real session does. */
  marks(bytes) {
    const before = this.shell + this.command;
    // eslint-disable-next-line no-control-regex -- OSC begins with ESC and ends with BEL
    for (const [, kind, arg] of bytes.toString("latin1").matchAll(/\x1b\](?:133|633);([A-E])(?:;([^\x07]*))?\x07/g)) {
      if (kind === "E") this.typed = arg;
      else if (kind === "C") [this.shell, this.command] = ["running", this.typed ?? ""];
      else if (kind === "A" || kind === "D") [this.shell, this.command] = ["prompt", ""];
    }
    if (this.shell + this.command !== before) this.owner.changed(this);
  }

  /** Forgets all lines but the cursor's. */
  async clear() {
    await new Promise((r) => this.vt.write("", r));
    this.vt.clear();
    for (const v of this.viewers) await v.snapshot("resync", {});
  }

  room() {
    if (![...this.viewers].some((v) => v.behind() > HIGH)) return Promise.resolve();
    return new Promise((r) => this.waiting.push(r));
  }

  wake() {
    if ([...this.viewers].some((v) => v.behind() > LOW)) return;
    for (const r of this.waiting.splice(0)) r();
  }

  /** The screen, after all earlier output was parsed. */
  async snapshot() {
    await new Promise((r) => this.vt.write("", r));
    return Buffer.from(this.serializer.serialize({ scrollback: 10_000 }), "utf8");
  }

  type(bytes) {
    this.input = Buffer.concat([this.input, bytes]);
    this.onInput(bytes.toString("utf8"), bytes);
  }

  resize(cols, rows) {
    this.sizes.push(`${cols}x${rows}`);
    if (cols === this.cols && rows === this.rows) return;
    [this.cols, this.rows] = [cols, rows];
    this.vt.resize(cols, rows);
    this.cast?.events.push([(this.owner.world.now() - this.cast.began) / 1000, "r", `${cols}x${rows}`]);
    for (const v of this.viewers) v.resized();
    this.onResize(cols, rows);
  }

  end(code = 0, more = {}) {
    if (this.state === "ended") return;
    this.state = "ended";
    this.exit = { code, ...more };
    for (const v of this.viewers) v.ended();
    this.owner.changed(this);
  }

  away(on) {
    this.state = on ? "away" : "running";
    this.owner.changed(this);
  }

  record(on) {
    if (on && !this.cast) {
      this.recording = `${this.id}.cast`;
      this.cast = { began: this.owner.world.now(), cols: this.cols, rows: this.rows, events: [] };
    } else if (!on && this.cast) {
      this.owner.keep(this);
      this.recording = "";
      this.cast = null;
    }
    this.owner.changed(this);
    for (const v of this.viewers) v.say({ type: "recording", session_id: this.id, name: this.recording });
  }
}

export class Terminals {
  constructor(world) {
    this.world = world;
    this.sessions = new Map();
    this.recordings = new Map(); // name → { info, text }
    this.program = "shell"; // the program of the next sessions
    this.failNext = null; // { error_code, message, remedy } for the next create
    this.sockets = new Set();
    this.held = null; // a promise that create waits for
    this.log = []; // all text messages of all clients
  }

  create(spec) {
    const s = new Session(this, spec);
    this.sessions.set(s.id, s);
    this.world.emit("terminal.created", spec.channel_id, "", s.info());
    // The program prints a little later, when a viewer may be attached.
    const program = programs[spec.program ?? this.program];
    setTimeout(() => program?.(s), 5);
    return s;
  }

  /** Holds back new terminals until the caller calls the returned function. */
  hold() {
    let go;
    this.held = new Promise((r) => (go = r));
    return go;
  }

  last() {
    return [...this.sessions.values()].at(-1);
  }

  need(id) {
    return this.sessions.get(id) ?? (() => { throw fail("not_found", "There is no terminal session with that id.", "It may have been closed; open a new terminal."); })();
  }

  changed(s) {
    this.world.emit("terminal.changed", s.spec.channel_id, "", s.info());
  }

  remove(s) {
    s.end(0, { reason: "The session was closed." });
    this.sessions.delete(s.id);
    this.world.emit("terminal.removed", s.spec.channel_id, "", s.info());
  }

  keep(s) {
    const c = s.cast;
    const text = [{ version: 2, width: c.cols, height: c.rows, timestamp: Math.floor(c.began / 1000), title: s.title }, ...c.events].map((x) => JSON.stringify(x)).join("\n");
    this.addRecording(s.recording, text, s);
  }

  addRecording(name, text, s = null) {
    const head = JSON.parse(text.split("\n")[0]);
    const last = text.trimEnd().split("\n").at(-1);
    const duration = text.includes("\n") ? Math.round(JSON.parse(last)[0] * 1000) : 0;
    this.recordings.set(name, { text, info: { name, session_id: s?.id ?? "", channel_id: s?.spec.channel_id ?? "", title: head.title ?? "", started_at: new Date((head.timestamp ?? 0) * 1000).toISOString(), duration_ms: duration, bytes: text.length, cols: head.width, rows: head.height } });
  }

  calls() {
    return {
      "Terminals.List": (channel) => [...this.sessions.values()].filter((s) => !channel || s.spec.channel_id === channel).map((s) => s.info()),
      "Terminals.Create": (req) => this.create(req).info(),
      "Terminals.Close": (id) => { this.remove(this.need(id)); return null; },
      "Terminals.Rename": (id, title) => { const s = this.need(id); s.title = title || "bash"; s.named = title !== ""; this.changed(s); return s.info(); },
      "Terminals.Record": (id, on) => { const s = this.need(id); s.record(on); return s.info(); },
      "Terminals.Recordings": () => [...this.recordings.values()].map((r) => r.info),
      "Terminals.DeleteRecording": (name) => { this.recordings.delete(name); return null; },
      "Terminals.ContainerPath": (_, path) => {
        if (!path.startsWith("/home/ana/")) throw fail("mount", "The container does not see that file.", "Copy it into the project's folder.");
        return `'${path}'`;
      },
      "Terminals.ReadFile": (_channel, _target, dir, name, line) => {
        if (!name.endsWith(".go")) throw fail("not_found", `${name} is not there.`, "It may have been moved, or be meant from another folder.");
        const lines = Array.from({ length: 120 }, (_, i) => (i === 39 ? `\treturn fmt.Errorf("read settings: %w", err) // ${"a long line ".repeat(20)}` : `\tline ${i + 1}`));
        return { path: `${dir}/${name}`, first: 1, lines, more: line > 100 };
      },
      "Terminals.PasteHostFile": (_, path) => {
        if (path.startsWith("/etc/")) throw fail("dir", `You may not read ${path}.`, "Change its permissions, or drop a copy that you may read.");
        return `/home/ana/.loop/pastes/${path.replace(/.*\//, "")}`;
      },
      "Terminals.PasteFile": (_, name) => `'/home/ana/.loop/pastes/${name}'`,
    };
  }

  /** Serves one socket. */
  serve(ws) {
    this.sockets.add(ws);
    ws.on("close", () => this.sockets.delete(ws));
    attachViewer(this, ws);
  }

  cut() {
    for (const ws of this.sockets) ws.terminate();
  }
}
