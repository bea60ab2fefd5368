// Mock of the pictures of what runs did in their browsers. A picture is a PNG of boxes,
// which a browser shows whatever it is called.
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { newID, used } from "./world.mjs";

const W = 640, H = 480;
const CRC = new Int32Array(256).map((_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n;
});

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]);
  let crc = -1;
  for (const b of body) crc = CRC[(crc ^ b) & 255] ^ (crc >>> 8);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length);
  body.copy(out, 4);
  out.writeInt32BE(crc ^ -1, body.length + 4);
  return out;
}

/** A picture of boxes: [x, y, width, height, colour as 0xRRGGBB]. */
export function drawn(boxes) {
  const px = Buffer.alloc((W * 3 + 1) * H, 0xf3);
  for (let y = 0; y < H; y++) px[y * (W * 3 + 1)] = 0;
  for (const [x, y, w, h, colour] of boxes) {
    for (let j = y; j < y + h; j++) for (let i = x; i < x + w; i++) px.writeUIntBE(colour, j * (W * 3 + 1) + 1 + i * 3, 3);
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(W);
  head.writeUInt32BE(H, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", head), chunk("IDAT", deflateSync(px)), chunk("IEND", Buffer.alloc(0))]);
}

/** The sign-in page at one of its steps. */
export const signIn = (step) => drawn([
  [0, 0, W, 36, 0xffffff], [16, 8, 20, 20, 0x1f6f50], [190, 60, 260, 380, 0xffffff], [214, 84, 110, 20, 0x1c2320],
  ...(step > 2 ? [[214, 116, 212, 40, 0xfdf0e2], [224, 130, 150, 10, 0x8a4b08]] : []),
  [214, 172, 212, 30, 0xe8ecea], [214, 222, 212, 30, 0xe8ecea], ...(step > 1 ? [[222, 182, 90, 10, 0x1c2320], [222, 232, 70, 10, 0x1c2320]] : []),
  [214, 272, 212, 32, step > 2 ? 0xb9c4be : 0x1f6f50], [214, 330, 212, 32, 0xe8ecea],
]);

export class Footage {
  constructor(world) {
    this.w = world;
    this.frames = new Map(); // run → frames
    this.pictures = new Map(); // hash → bytes
    this.broken = new Set(); // hashes of pictures whose file is damaged
    this.exports = new Map(); // run → what its export answers
    this.served = 0;
    this.nextId = 1;
  }

  calls() {
    return { "Footage.Frames": (run) => [...(this.frames.get(run) ?? [])].sort((a, b) => a.time - b.time) };
  }

  serve(url, res, json) {
    const picture = decodeURIComponent(url.pathname.split("/").at(-1));
    const data = this.pictures.get(picture);
    if (!data) return json(404, { code: "not_found", cause: "There is no such picture.", remedy: "Old ones are removed." });
    if (this.broken.has(picture)) return json(400, { code: "directory", cause: "The file of the picture is damaged.", remedy: "The frames before and after it may be whole." });
    this.served++;
    res.writeHead(200, { "Content-Type": "image/jpeg", "Cache-Control": "private, max-age=31536000, immutable" });
    return res.end(data);
  }

  /** The export of a run: exports has what Loop answers, bytes or a failure. "torn" ends in the middle. */
  serveExport(url, res, json) {
    const run = decodeURIComponent(url.pathname.split("/").at(-2));
    const answer = this.exports.get(run) ?? { code: "not_found", cause: "There is no such run.", remedy: "It may have been removed with its channel." };
    if (answer.code) return json(404, answer);
    res.writeHead(200, { "Content-Type": "application/zip", "Content-Disposition": 'attachment; filename="loop-run-1.zip"' });
    if (answer !== "torn") return res.end(answer);
    return res.write("PK", () => res.destroy());
  }

  add(channel, run, frame, data, at) {
    const f = { frame_id: this.nextId++, run_id: run, kind: "act", time: at, driver: "agent", url: "http://preview.api-server:8080/login", title: "Sign in – Fernway", view_width: W, view_height: H, ...frame };
    if (data) {
      f.picture = createHash("sha256").update(data).digest("hex");
      this.pictures.set(f.picture, data);
      Object.assign(f, { width: W, height: H });
    }
    this.frames.set(run, [...(this.frames.get(run) ?? []), f]);
    this.w.emit("browser.frame", channel, run, null, at);
    return f;
  }

  /** A run that tried a page in the browser, as of so many milliseconds ago. */
  run(ch, ago = 300_000) {
    const run = newID();
    const began = Date.now() - ago;
    let at = began;
    const e = (type, data, after = 400) => this.w.emit(type, ch.channel_id, run, data, (at += after));
    const tool = (name, input, output, ms, more = {}) => {
      const id = `toolu_${newID().slice(0, 12)}`;
      e("tool.use", { tool_use_id: id, tool_name: name, input });
      e("tool.result", { tool_use_id: id, output, is_error: false, ...more }, ms);
      return id;
    };
    const act = (name, input, output, frame, data, more) => {
      const id = tool(`mcp__loop-browser__${name}`, input, output, 900, more);
      return this.add(ch.channel_id, run, { tool_use_id: id, action: name, ...frame }, data, at);
    };
    const box = (name, role, x, y, width, height) => ({ target: { name, role, x, y, width, height } });
    e("message.created", { msg_id: newID(), content: "After five wrong passwords the sign-in page should say how long to wait. Check it in the browser.", is_bot: false });
    e("agent.status", { status: "running", state: "starting", step: "agent" });
    e("agent.status", { status: "running", state: "running" });
    e("message.created", { msg_id: newID(), content: "The limiter answers 429, but the page ignores it. I show a countdown and try it.", is_bot: true, uuid: newID() }, 4000);
    tool("Bash", { command: "go run ./cmd/api" }, "listening on :8080\nGET /login 200 1.1ms", 2100);
    act("navigate", { url: "http://preview.api-server:8080/login" }, "Opened it.", { deed: "opened preview.api-server:8080/login" }, signIn(1));
    act("form_input", { ref: 1, value: "ana@example.com" }, "Filled “Email”.", { deed: "filled in “Email”", ...box("Email", "textbox", 214, 172, 212, 30) }, signIn(2));
    act("computer", { action: "click", ref: 3 }, "Clicked button “Continue”.", { deed: "clicked “Continue”", ...box("Continue", "button", 214, 272, 212, 32) }, signIn(3));
    this.add(ch.channel_id, run, { kind: "take", driver: "person" }, signIn(3), (at += 60_000));
    e("run.notice", { level: "info", text: "You took over the browser.", driver: "person" }, 0);
    this.add(ch.channel_id, run, { kind: "page", driver: "person", skipped: 2 }, signIn(2), (at += 2000));
    this.add(ch.channel_id, run, { kind: "give", driver: "nobody" }, signIn(2), (at += 4000));
    e("run.notice", { level: "info", text: "You gave the browser back.", driver: "nobody" }, 0);
    act("read_console_messages", { onlyErrors: true }, "POST /api/session 429", { deed: "read the console", why: "The page did not answer in time." }, null);
    act("computer", { action: "click", ref: 9 }, "There is no element 9. Call read_page again.", { deed: "clicked", failed: true }, signIn(3), { is_error: true });
    e("gate.resolved", { approval_id: newID(), channel_id: ch.channel_id, run_id: run, spawn_id: newID(), kind: "file", state: "allowed", operation: "write", target: "/home/ana/.gitconfig", calls: 1, title: "Write to a start-up file", why: "It runs later.", processes: [], digest: "d", created_at: new Date(at).toISOString(), resolved_at: new Date(at).toISOString(), scope: "once", by: "window" }, 3000);
    tool("Bash", { command: "go test ./web" }, "ok  web  0.4s", 1500);
    e("message.created", { msg_id: newID(), content: "The countdown is right.", is_bot: true, uuid: newID() }, 3000);
    const end = { status: "completed", state: "done", duration_ms: at - began, num_turns: 6, model: "claude-sonnet-4-5-20250929", ...used(0.21, 12) };
    e("agent.status", end, 200);
    return { run, began, ended: at };
  }
}
