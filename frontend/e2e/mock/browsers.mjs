// The browsers of channels in the backend's place: their states, frames and what panes ask
// for, as backend/api/browsersocket.go speaks it. Nothing is drawn but coloured squares.
import { jpeg } from "./jpeg.mjs";

const MOVES = ["mousemove", "mouseup", "keyup"]; // inputs that take over nothing
const QUIET = ["element_at", "parent_of", "child_of", "screenshot", "find_text"];

const page = (id, url, title) => ({ target_id: id, url, title, back: false, forward: false });

class Browser {
  viewers = new Set();
  log = []; // every command
  inputs = [];
  acts = []; // [name, params]
  painted = []; // numbers of frames that panes have painted
  frame = 0;
  lines = [];
  requests = [];
  elements = []; // of the page, each in the one before it
  held = null; // a promise that the next acts wait for
  picture = null; // of the page, instead of squares
  answers = { find_text: () => ({ result: "3" }), evaluate: ({ expression }) => ({ result: `gave ${expression}` }) };
  state = {
    phase: "running", driver: "nobody", tabs: [{ ...page("t1", "http://localhost:8080/login", "Sign in – Fernway"), active: true }], errors: 0, requests: 0,
    view: { width: 1280, height: 800, scale: 1, zoom: 1 },
  };

  set(part) {
    Object.assign(this.state, part);
    this.tell();
  }

  say(m) {
    for (const v of this.viewers) v.send(JSON.stringify(m));
  }

  tell() {
    const { lines, requests } = this;
    this.say({ type: "state", state: { ...this.state, errors: lines.filter((l) => l.level === "error").length || this.state.errors, requests: requests.length || this.state.requests } });
  }

  /** Draws the page anew for all panes, in a colour. */
  draw(color = [255, 255, 255], to = this.viewers) {
    const { width, height, scale = 1 } = this.state.view;
    this.color = color;
    const data = this.picture ?? jpeg(Math.round(width * scale), Math.round(height * scale), () => color);
    this.send(data, to);
    return this.frame;
  }

  send(data, to = this.viewers) {
    const head = Buffer.alloc(16);
    head.writeUInt32BE(++this.frame, 0);
    head.writeDoubleBE(Date.now(), 8);
    for (const v of to) v.send(Buffer.concat([head, data]));
  }

  write(level, text, source = "login.js:12") {
    this.lines.push({ seq: this.lines.length + 1, time: Date.now(), level, text, source });
    this.fill();
    this.tell();
  }

  ask(method, url, more = {}) {
    const seq = this.requests.length + 1;
    this.requests.push({ seq, rev: seq, time: Date.now(), method, url, kind: "fetch", status: 200, bytes: 1234, ms: 12, ...more });
    this.fill();
    this.tell();
  }

  /** Sends what is new in the drawers that are open. */
  fill() {
    for (const v of this.viewers) {
      const d = v.drawer ?? {};
      const lines = this.lines.filter((l) => l.seq > (d.console_after ?? Infinity));
      const requests = this.requests.filter((r) => r.rev > (d.network_after ?? Infinity));
      if (lines.length > 0) {
        d.console_after = lines.at(-1).seq;
        v.send(JSON.stringify({ type: "console", lines }));
      }
      if (requests.length > 0) {
        d.network_after = Math.max(...requests.map((r) => r.rev));
        v.send(JSON.stringify({ type: "network", requests }));
      }
    }
  }

  get tab() {
    return this.state.tabs.find((t) => t.active);
  }

  choose(tab) {
    for (const t of this.state.tabs) t.active = t === tab;
  }

  act(name, params) {
    const { state } = this;
    if (this.answers[name]) return this.answers[name](params);
    const { x, y, ref, target_id } = params;
    switch (name) {
      case "navigate":
        Object.assign(this.tab, { url: params.url.includes("://") ? params.url : `http://${params.url}/`, title: params.url, back: true });
        return {};
      case "new_tab":
        state.tabs.push(page(`t${state.tabs.length + 1}`, params.url, ""));
        this.choose(state.tabs.at(-1));
        return {};
      case "switch_tab":
        this.choose(state.tabs.find((t) => t.target_id === target_id));
        return {};
      case "close_tab": {
        const at = state.tabs.findIndex((t) => t.target_id === target_id);
        const [gone] = state.tabs.splice(at, 1);
        if (gone.active) this.choose(state.tabs[Math.max(0, at - 1)]);
        return {};
      }
      case "dialog":
        state.dialog = undefined;
        return {};
      case "choose_files":
        state.chooser = undefined;
        return {};
      case "answer_popup":
        state.popup = undefined;
        return {};
      case "element_at":
        return { target: this.elements.findLast((e) => x >= e.x && y >= e.y && x < e.x + e.width && y < e.y + e.height) };
      case "parent_of": case "child_of": {
        const at = this.elements.findIndex((e) => e.ref === ref) + (name === "parent_of" ? -1 : 1);
        return { target: this.elements[Math.max(0, Math.min(this.elements.length - 1, at))] };
      }
    }
    return { result: "Done." };
  }

  async handle(m, v) {
    this.log.push(m);
    const { state } = this;
    switch (m.type) {
      case "view":
        state.view = m.view;
        this.tell();
        return void this.draw(this.color);
      case "painted":
        return void this.painted.push(m.id);
      case "input":
        this.inputs.push(m.input);
        if (!MOVES.includes(m.input.kind) && state.driver !== "person") this.set({ driver: "person" });
        return undefined;
      case "act": {
        this.acts.push([m.action, m.params]);
        await this.held;
        if (!QUIET.includes(m.action)) state.driver = "person";
        const result = this.act(m.action, m.params ?? {});
        v.send(JSON.stringify({ type: "result", id: m.id, result }));
        return this.tell();
      }
      case "take":
        return this.set({ driver: "person" });
      case "give":
        return this.set({ driver: "nobody", waiting_ms: 0 });
      case "drawer":
        v.drawer = m;
        return this.fill();
      case "copy": case "cut":
        return v.send(JSON.stringify({ type: "clipboard", text: "text of the page" }));
      case "restart": case "reset":
        this.set({ phase: "starting", failure: undefined, since_ms: 1200, step: "" });
        await this.held;
        this.set({ phase: "running" });
        return void this.draw();
      default:
        return undefined;
    }
  }
}

export class Browsers {
  all = new Map();
  files = []; // that persons gave to pages
  refuse = null; // a failure for every file

  of(channel) {
    const id = channel.channel_id;
    if (!this.all.has(id)) this.all.set(id, new Browser());
    return this.all.get(id);
  }

  async take(params, req) {
    const parts = [];
    for await (const part of req) parts.push(part);
    if (this.refuse) return this.refuse;
    const file = { channel: params.get("channel_id"), name: params.get("name"), text: Buffer.concat(parts).toString() };
    this.files.push(file);
    return { path: `/home/chrome/given/${file.name}` };
  }

  serve(ws) {
    let b = null;
    ws.on("message", (data) => {
      const m = JSON.parse(String(data));
      if (b) return void b.handle(m, ws);
      if (m.type !== "start") return ws.send(JSON.stringify({ type: "error", message: "The first message is not “start” with channel_id and view." }));
      b = this.of({ channel_id: m.channel_id });
      b.log.push(m);
      b.viewers.add(ws);
      b.state.view = m.view;
      b.tell();
      return b.state.phase === "running" ? void b.draw(b.color, [ws]) : undefined;
    });
    ws.on("close", () => b?.viewers.delete(ws));
  }

  cut() {
    for (const b of this.all.values()) for (const v of b.viewers) v.terminate();
  }
}
