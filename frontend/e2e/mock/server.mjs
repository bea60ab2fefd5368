// A mock of Loop for tests and for work on the page. It serves dist/, the calls and
// the event socket as backend/api does, and /mock/* to steer it.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";
import { failedRun, flakyTest, long } from "./history.mjs";
import { Browsers } from "./browsers.mjs";
import { Gate } from "./gate.mjs";
import { branchCalls } from "./branches.mjs";
import { containerCalls } from "./containers.mjs";
import { Settings } from "./settings.mjs";
import { Player } from "./play.mjs";
import { Terminals } from "./terminals.mjs";
import { Files } from "./files.mjs";
import { findIn } from "./find.mjs";
import { Reviews } from "./reviews.mjs";
import { Footage } from "./footage.mjs";
import { Rewinds } from "./rewind.mjs";
import { fail, newID, World } from "./world.mjs";

const DIST = fileURLToPath(new URL("../../dist/", import.meta.url));
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".woff2": "font/woff2", ".woff": "font/woff" };
// Content security policy and caching as in backend/api/page.go, so that tests notice a breach by the page.
const policy = (host) => `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; font-src 'self'; worker-src 'self'; connect-src 'self' ws://${host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const CHECKS = [
  { id: "config", title: "Configuration", state: "ok", summary: "Read without problems.", duration_ms: 1 },
  { id: "disk", title: "Disk", state: "ok", summary: "Wrote 1 MiB in /home/ana/.loop; 212.4 GB free.", duration_ms: 12 },
  { id: "engine", title: "Docker engine", state: "ok", summary: "Docker 28.3.0 (API 1.51, rootful), from default socket at unix:///var/run/docker.sock.", duration_ms: 9 },
  { id: "image", title: "Agent image", state: "ok", summary: "loop-agent:latest is there and matches this version.", duration_ms: 6 },
  { id: "link", title: "Container and link", state: "ok", summary: "Started a container and had its hello after 310 ms; one round trip takes 0.3 ms. The container is removed again.", duration_ms: 412 },
  { id: "ca", title: "Certificates", state: "ok", summary: "No extra CA files are configured; the system's are used.", duration_ms: 1 },
  { id: "credentials", title: "Model access", state: "ok", summary: "api.anthropic.com accepted the API key.", duration_ms: 304 },
  { id: "display", title: "Display", state: "ok", summary: "A display answers at :0.", duration_ms: 3 },
  { id: "notifications", title: "Notifications", state: "ok", summary: "The system shows them.", duration_ms: 2 },
  { id: "gate", title: "Gate", state: "ok", summary: "A call was held in a container and let go again after 2 ms.", duration_ms: 21 },
];

function populate(w) {
  const now = Date.now();
  if (w.scenario === "fresh") return;
  const api = w.addChannel("api-server", "/home/ana/src/api-server");
  const shop = w.addChannel("storefront", "/home/ana/src/storefront");
  const infra = w.addChannel("infra", "/home/ana/src/infra");
  w.addChannel("docs & <b>notes</b>", "/home/ana/src/docs notes");
  if (w.scenario === "quiet") return; // nothing has happened yet
  flakyTest(w, api, now - 26 * 60_000);
  failedRun(w, shop, now - 80 * 60_000, { code: "out_of_memory", cause: "The container ran out of memory (2048 MB).", remedy: "Raise container_memory_mb in the configuration, or ask for less at once.", detail: "exit 137, oom_killed=true\nlast output: webpack: building 3412 modules" });
  failedRun(w, infra, now - 90 * 60_000, { code: "interrupted", cause: "Loop stopped while this run was going on, and its container did not survive.", remedy: "Everything up to here is kept. Run it again to go on." }, "interrupted");
  if (w.scenario === "long") long(w, w.addChannel("monorepo", "/home/ana/src/monorepo"), 700);
}

const CHILDREN = { "/": ["etc", "home", "tmp"], "/home": ["ana", "guest"], "/home/ana": [".cache", ".config", "Documents", "Music", "src"], "/home/ana/src": ["api-server", "docs notes", "infra", "monorepo", "storefront"] };

function calls(w, play, settings, terminals, gate) {
  const need = (id) => w.channels.get(id) ?? (() => { throw fail("not_found", "That channel is not there any more.", "Choose another one."); })();
  const parent = (p) => p.replace(/\/[^/]*$/, "") || "/";
  return {
    ...branchCalls(w, play),
    ...settings.calls(),
    ...terminals.calls(),
    ...gate.calls(),
    ...containerCalls(w),
    "Channels.List": () => [...w.channels.values()].map((c) => w.view(c)),
    "Channels.Add": (dir, name) => {
      if (!dir.startsWith("/")) throw fail("directory", "That is not a full path.", "Type the whole path, beginning with /.");
      if (dir === "/") throw fail("directory", "The whole file system is too much for one project.", "Choose a folder inside it.");
      const had = [...w.channels.values()].find((c) => c.dir === dir);
      return w.view(had ?? w.addChannel(name || dir.split("/").at(-1), dir));
    },
    "Channels.Demo": () => w.view([...w.channels.values()].find((c) => c.kind === "demo") ?? w.addChannel("Demo", "/home/ana/.loop/channels/demo/work", "demo")),
    "Channels.Agents": () => [{ id: "main", name: "" }, { id: "dev", name: "Developer" }],
    "Channels.Choose": (id, choices) => { const c = need(id); c.choices = choices; w.emit("channel.updated", id, "", c); return c; },
    "Channels.Rename": (id, name) => { const c = need(id); c.name = name; w.emit("channel.updated", id, "", c); return null; },
    "Channels.Remove": (id) => { need(id); w.channels.delete(id); w.emit("channel.deleted", id, "", null); return null; },
    "Channels.Timeline": (id, before, limit) => w.timeline(id, before, limit),
    "Channels.PickFolder": () => { throw fail("no_native_dialog", "A page in a browser cannot open the system's folder dialog.", "Choose the folder in the list."); },
    "Channels.Folders": (path) => {
      const p = path === "" ? "/home/ana" : path.length > 1 ? path.replace(/\/+$/, "") : path;
      if (!CHILDREN[p] && !CHILDREN[parent(p)]?.includes(p.split("/").at(-1))) throw fail("directory", "That folder cannot be opened.", "Go back and choose another one.", `open ${p}: no such file or directory`);
      return { path: p, parent: parent(p), entries: (CHILDREN[p] ?? []).map((name) => ({ name, path: p === "/" ? `/${name}` : `${p}/${name}` })) };
    },
    "Channels.History": (id, query, limit) => (w.events.get(id) ?? []).filter((e) => e.type === "message.created" && !e.data.is_bot).map((e) => e.data.content).filter((c) => c.toLowerCase().includes(query.toLowerCase())).reverse().slice(0, limit),
    "Channels.Find": (q) => { if (w.findFails) throw fail("database", "The database could not be read.", "Try again."); return findIn(w.events, q); },
    "System.Look": () => null,
    "System.SetDoNotDisturb": (on) => { w.config.do_not_disturb = on; w.emit("config.changed", "", "", w.config); return null; },
    "Runs.Prompt": (req) => {
      const ch = need(req.channel_id);
      if (ch.untitled) {
        ch.name = req.prompt.split("\n")[0].slice(0, 60);
        delete ch.untitled;
        w.emit("channel.updated", ch.channel_id, "", ch);
      }
      return play.enqueue(req);
    },
    "Runs.Cancel": (id) => { play.cancel(id); return null; },
    "Runs.Remove": (id) => {
      const run = w.runs.get(id);
      if (run?.state !== "queued") throw fail("conflict", "That prompt has begun already.", "Stop its run instead.");
      run.state = "cancelled";
      const q = w.queues.get(run.channel_id);
      q.splice(q.indexOf(run), 1);
      w.emit("queue.changed", run.channel_id, id, run);
      return null;
    },
    "Runs.Retry": (id) => {
      const run = w.runs.get(id) ?? (() => { throw fail("not_found", "That run is not there any more.", "Send the prompt again."); })();
      return play.enqueue({ client_id: newID(), channel_id: run.channel_id, prompt: run.prompt });
    },
    "System.Snapshot": () => w.snapshot(),
    "System.Doctor": async () => {
      await new Promise((r) => setTimeout(r, 300 / play.speed));
      return { checks: CHECKS.map((c) => check(w, c)) };
    },
    "System.Fix": async (id) => {
      await new Promise((r) => setTimeout(r, 300 / play.speed));
      if (w.fixFails) throw fail("config", "The folder /home/ana/.loop could not be closed to others.", "Look who owns it.");
      if (id === "disk") w.homeOpen = false;
      return check(w, CHECKS.find((c) => c.id === id));
    },
    "System.ImageStatus": () => w.image,
    "System.BuildImage": () => play.build(),
    "System.SandboxImageStatus": () => ({ state: w.sandboxBuild ? "building" : "missing", ref: "openclaw-sandbox-common:bookworm-slim", step: "Building the common sandbox image", progress: 0.42 }),
    "System.BuildSandboxImage": () => new Promise((done) => { w.sandboxBuild = () => { w.sandboxBuild = null; done(null); }; }),
    "System.BuildOutput": () => w.buildOutput ?? { ref: "", name: "", began_at: 0, text: "" },
    "System.CancelImageBuild": () => { play.building = false; return null; },
    "System.SetTheme": (theme) => { w.config.theme = theme; w.emit("config.changed", "", "", w.config); return null; },
    "System.Memory": () => w.memory,
    "System.Keep": (name, value) => { if (value) w.memory[name] = value; else delete w.memory[name]; return null; },
    "System.Leaving": () => w.leaving,
    "System.Quit": () => null,
    "System.Hide": () => null,
    "System.Answered": () => null,
    "System.OpenURL": () => { throw fail("no_native_dialog", "A page in a browser opens links by itself."); },
  };
}

function check(w, c) {
  if (!w.engine.ok && ["image", "link"].includes(c.id)) return { ...c, state: "skip", summary: "Not tried: Docker engine comes first." };
  if (!w.engine.ok && c.id === "engine") return { ...c, state: "fail", summary: w.engine.failure.cause, remedy: w.engine.failure.remedy, detail: w.engine.failure.detail };
  if (w.homeOpen && c.id === "disk") return { ...c, state: "warn", summary: `${c.summary} Others on this computer can look into the folder, which holds conversations and settings.`, remedy: "Close it: “chmod 700 /home/ana/.loop”.", fix: "Let nobody else look into the folder" };
  if (w.image.state !== "ready" && c.id === "image") return { ...c, state: "fail", summary: "loop-agent:latest is not there.", remedy: "Build it: “loop image build”, or the button in the window. The first run does it by itself." };
  if (w.image.state !== "ready" && c.id === "link") return { ...c, state: "skip", summary: "Not tried: Agent image comes first." };
  if (!w.config.has_credentials && c.id === "credentials") return { ...c, state: "warn", summary: "No key yet. The demo channel works without one.", remedy: "Paste an API key in the settings." };
  return c;
}

/** dist: the folder of built files; tests of parts of the page have one of their own. */
export async function startMock({ scenario = "work", port = 0, speed = 1, dist = DIST, token = newID() + newID() } = {}) {
  const world = new World(scenario);
  populate(world);
  const play = new Player(world, speed);
  const settings = new Settings(world);
  const terminals = new Terminals(world);
  const gate = new Gate(world);
  const browsers = new Browsers();
  world.gate = gate;
  play.gate = gate;
  const footage = new Footage(world);
  const rewinds = new Rewinds(world);
  const files = new Files(world);
  const reviews = new Reviews();
  const table = { ...calls(world, play, settings, terminals, gate), ...footage.calls(), ...files.calls(), ...rewinds.calls(), ...reviews.calls() };
  const log = []; // every call, for tests
  const state = { accept: true };
  const sockets = new Set();

  const server = createServer(async (req, res) => {
    const url = new URL(req.url, "http://mock");
    const json = (status, v) => {
      res.writeHead(status, { "Content-Type": "application/json", "Cache-Control": "no-store" });
      res.end(JSON.stringify(v));
    };
    if (!state.accept && url.pathname.startsWith("/api/")) {
      req.socket.destroy();
      return;
    }
    if (url.pathname.startsWith("/api/call/")) {
      if (req.headers.authorization !== `Bearer ${token}`) return json(401, { code: "denied", cause: "No valid key." });
      let body = "";
      try {
        for await (const chunk of req) body += chunk;
      } catch {
        return; // the page left before its request was complete, so it wants no answer
      }
      const name = url.pathname.slice("/api/call/".length);
      const args = JSON.parse(body || "[]");
      log.push({ name, args });
      await world.held.get(name);
      const planned = world.failNext.get(name) ?? world.failEach.get(name);
      if (planned) {
        world.failNext.delete(name);
        return json(500, planned);
      }
      try {
        if (!table[name]) throw fail("not_found", `This version of Loop has no call "${name}".`);
        return json(200, (await table[name](...args)) ?? null);
      } catch (e) {
        return json(e.failure ? 400 : 500, e.failure ?? { code: "internal", cause: "The mock broke.", detail: String(e.stack) });
      }
    }
    if (url.pathname.startsWith("/api/recordings/")) {
      if (req.headers.authorization !== `Bearer ${token}`) return json(401, { code: "denied", cause: "No valid key." });
      const r = terminals.recordings.get(decodeURIComponent(url.pathname.slice("/api/recordings/".length)));
      if (!r) return json(404, { code: "not_found", cause: "That recording is not there.", remedy: "It may have been deleted." });
      res.writeHead(200, { "Content-Type": "application/x-asciicast" });
      return res.end(r.text);
    }
    if (/^\/api\/runs\/[^/]+\/export$/.test(url.pathname)) {
      const auth = req.headers.authorization === `Bearer ${token}`;
      return auth ? footage.serveExport(url, res, json) : json(401, { code: "denied", cause: "No valid key." });
    }
    if (url.pathname.startsWith("/api/frames/")) {
      if (req.headers.authorization !== `Bearer ${token}`) return json(401, { code: "denied", cause: "No valid key." });
      return footage.serve(url, res, json);
    }
    if (url.pathname === "/api/browser/files") {
      if (req.headers.authorization !== `Bearer ${token}` || req.method !== "POST") return json(401, { code: "denied", cause: "No valid key." });
      const answer = await browsers.take(url.searchParams, req);
      return json(answer.path ? 200 : 400, answer);
    }
    const file = normalize(url.pathname === "/" ? "/index.html" : url.pathname);
    try {
      const data = await readFile(join(dist, file));
      res.writeHead(200, {
        "Content-Type": TYPES[extname(file)] ?? "application/octet-stream", "Content-Security-Policy": policy(req.headers.host), "X-Content-Type-Options": "nosniff",
        "Cache-Control": file.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-store",
      });
      res.end(data);
    } catch {
      res.writeHead(404).end("not found");
    }
  });

  const wss = new WebSocketServer({ noServer: true, handleProtocols: () => "loop" });
  server.on("upgrade", (req, socket, head) => {
    socket.on("error", () => socket.destroy()); // the page left meanwhile
    const offered = String(req.headers["sec-websocket-protocol"] ?? "").split(",").map((s) => s.trim());
    if (!state.accept || !offered.includes(`loop.token.${token}`)) {
      socket.end("HTTP/1.1 401 Unauthorized\r\n\r\n");
      return;
    }
    wss.handleUpgrade(req, socket, head, (ws) => {
      if (new URL(req.url, "http://x").pathname === "/api/ws/terminal") return terminals.serve(ws);
      if (new URL(req.url, "http://x").pathname === "/api/ws/browser") return browsers.serve(ws);
      sockets.add(ws);
      const send = (batch) => ws.send(JSON.stringify(batch));
      const missed = world.missed(new URL(req.url, "http://x").searchParams);
      if (missed.length > 0) send(missed);
      world.listeners.add(send);
      ws.on("close", () => { sockets.delete(ws); world.listeners.delete(send); });
    });
  });
  await new Promise((done, fails) => server.once("error", fails).listen(port, "127.0.0.1", done));
  const address = `http://127.0.0.1:${server.address().port}`;
  return {
    world, play, settings, terminals, gate, browsers, footage, rewinds, files, reviews, log, token, address, url: `${address}/#token=${token}`,
    /** Cuts every socket and answers no call until up() is called; the page's files still load. */
    down() { state.accept = false; for (const s of sockets) s.terminate(); terminals.cut(); browsers.cut(); },
    up() { state.accept = true; },
    /** Cuts the event sockets only: the page comes back and goes on where it was. */
    cut(code = 1001) { for (const s of sockets) s.close(code); },
    channel: (name) => [...world.channels.values()].find((c) => c.name === name),
    async close() { play.leave(); for (const s of sockets) s.terminate(); terminals.cut(); browsers.cut(); server.closeAllConnections(); await new Promise((r) => server.close(r)); },
  };
}
