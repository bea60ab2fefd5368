// The containers of the mock, and what a panel asks of them.
import { fail, newID } from "./world.mjs";

const MB = 1024 * 1024;
const MIN = 60_000;

/** A run holds its container while it runs. */
const holdersOf = (c) => c.holders ?? (c.run_id && c.status === "running" ? [{ kind: "run", id: c.run_id }] : []);

function viewOf(c) {
  const holders = holdersOf(c);
  return {
    type: "agent", image: "loop-agent:latest", size_bytes: -1, samples: [], sessionKey: c.scope ?? "", ...c, holders, warm: Boolean(c.scope) && c.status === "running" && holders.length === 0,
    ends_why: c.ends_why ?? (holders.length > 0 ? "ends with the last who holds it" : "is kept for a look until it is removed"), ends_at: c.ends_at ?? c.remove_at,
  };
}

/** What each of the drawn containers is; ago, ends and left are minutes. */
const DRAWN = [
  { name: "loop-api-server-3cc039", channel: "api-server", ago: 134, holders: [["run", "r1"], ["terminal", "t1"], ["terminal", "t2"]], cpu: 0.76, memory: 612, size: 148, drift: { changed: true, replaced: true, parts: ["mounts"],
    origins: [{ field: "mounts[/home/ana/.cache/go-build]", value: "/home/ana/.cache/go-build rw", layer: "project", path: "/home/ana/src/api-server/.loop/config.json", line: 14 }] } },
  { name: "loop-feat-rate-limits-91204d", channel: "storefront", ago: 26, holders: [["run", "r2"], ["browser", "b"]], cpu: 1.42, memory: 1126, size: 96 },
  { name: "loop-go-1.26-7b5289", channel: "storefront", ago: 2, holders: [["run", "r3"]], cpu: 1.92, memory: 1760, limit: 2048, size: 412 },
  { name: "loop-chrome-91204d", channel: "storefront", type: "chrome", ago: 24, scope: "", holders: [["browser", "p"]], cpu: 0.44, memory: 486, size: 41 },
  { name: "loop-fix-img-cache-a556df", channel: "storefront", ago: 182, cpu: 0, memory: 88, size: 37, ends: 30 },
  { name: "loop-shell-infra-40d1ce", channel: "infra", type: "shell", ago: 1680, holders: [["terminal", "t3"]], cpu: 0, memory: 24, size: 6, drift: { changed: true, replaced: false, parts: ["image"],
    origins: [{ field: "image", value: "mine:2", layer: "global", path: "/home/ana/.loop/config.json", line: 3 }] } },
  { name: "loop-storefront-55654e", channel: "storefront", ago: 80, scope: "", status: "pending-removal", oom: true, memory: 2048, size: 231, left: 4 },
  { name: "loop-old-998e5d", channel: "gone", ago: 6000, status: "stopped", size: 12, ends: 1200 },
];

/** Makes the drawn containers; n more of the fifth are added. */
export function draw(w, n = 0) {
  const now = Date.now();
  const id = (name) => [...w.channels.values()].find((c) => c.name === name)?.channel_id ?? newID();
  const more = Array.from({ length: n }, (_, i) => ({ ...DRAWN[4], name: `loop-more-${String(i).padStart(6, "0")}` }));
  w.containers = [...DRAWN, ...more].map((d) => ({
    container_id: newID() + newID(), container_name: d.name, channel_id: id(d.channel), type: d.type ?? "agent", status: d.status ?? "running", image: "loop-agent:latest",
    created_at: new Date(now - d.ago * MIN).toISOString(), scope: d.scope ?? `session:${d.channel}`, last_used_at: new Date(now - MIN).toISOString(),
    holders: (d.holders ?? []).map(([kind, h]) => ({ kind, id: h })), size_bytes: d.size * MB, ends_why: d.holders ? "stays while it is held" : d.left ? "is kept for a look until it is removed" : "ends once it was not used for 24 hours",
    ...(d.ends ? { ends_at: new Date(now + d.ends * MIN).toISOString() } : {}), ...(d.left ? { remove_at: new Date(now + d.left * MIN).toISOString() } : {}),
    engine: { running: !d.status, paused: false, exit_code: d.oom ? 137 : 0, oom_killed: d.oom === true, image_id: "sha256:9f2c41d0aa", limits: { memory_bytes: (d.limit ?? 4096) * MB, cpus: 2, pids: 512 }, mounts: [{ kind: "", source: "/a", target: "/a" }] },
    drift: { changed: false, replaced: false, parts: [], ...d.drift },
    samples: d.cpu === undefined && !d.oom ? [] : Array.from({ length: 110 }, (_, i) => ({
      at_ms: now - (109 - i) * 5000, cpus: (d.cpu ?? 1) * (0.7 + ((i * 7) % 10) / 20), memory_bytes: (d.oom && i > 90 ? 0 : (d.memory - (109 - i) * (d.limit || d.oom ? 6 : 0.3)) * MB),
    })),
  }));
}

export const EXPLANATION = {
  origins: [
    { field: "limits.memory_bytes", value: "4294967296", layer: "project", path: "/home/ana/src/api-server/.loop/config.json", line: 9, overrode: { setting: "container_memory_mb", value: "2048", layer: "global", path: "/home/ana/.loop/config.json", line: 12 } },
    { field: "limits.cpus", value: "2", layer: "global", path: "/home/ana/.loop/config.json", line: 13, overrode: { setting: "container_cpus", value: "1", layer: "built-in" } },
    { field: "mounts[/home/ana/src/api-server]", value: "/home/ana/src/api-server rw", layer: "channel" },
    { field: "mounts[/home/ana/.cache/go-build]", value: "/home/ana/.cache/go-build rw", layer: "project", path: "/home/ana/src/api-server/.loop/config.json", line: 14 },
    { field: "mounts[/home/ana/.gitconfig]", value: "/home/ana/.gitconfig ro", layer: "global", path: "/home/ana/.loop/config.json", line: 18 },
    { field: "env[GOFLAGS]", value: "-mod=readonly", layer: "project", path: "/home/ana/src/api-server/.loop/config.json", line: 21 },
    { field: "network", value: "bridge", layer: "built-in" },
    { field: "image", value: "loop-agent:latest", layer: "built-in" },
    { field: "read_only_root", value: "true", layer: "built-in" },
  ],
  skipped: [{ text: "~/.ssh", reason: "holds private keys" }],
};

const gone = () => fail("not_found", "There is no such container of this Loop folder.", "“loop ps” lists them.");

export function containerCalls(w) {
  const named = (id) => w.containers.find((x) => x.container_id === id) ?? (() => { throw gone(); })();
  const drop = (c) => {
    w.containers.splice(w.containers.indexOf(c), 1);
    w.emit("container.removed", c.channel_id, "", c);
    return c;
  };
  const unheld = (only) => w.containers.filter((c) => c.status !== "running" && holdersOf(c).length === 0 && (!only?.length || only.includes(c.container_id)));
  w.logs = ["loop init 1 begins", "time=2026-11-27T07:17:34.691Z level=INFO msg=spawned id=2d0f pid=83", "POST /api/session 401 11.8ms", "POST /api/session 200 10.9ms", "time=2026-11-27T07:17:36.001Z level=WARN msg=\"disk full\" retry_after=30", "--- FAIL: TestLogin", "POST /api/session 401 12.2ms"];
  const port = (n, process, kind, title) => ({ port: n, url: `http://localhost:${n}/`, process, kind, title });
  w.ports = [port(5432, "postgres", "tcp", ""), port(6060, "api-server", "http", "/debug/pprof/"), port(8080, "api-server", "http", "Sign in – Fernway")];
  return {
    "Containers.Warm": (id) => { if (!w.channels.has(id)) throw fail("not_found", "That channel is not there any more.", "Choose another one."); return null; },
    "Containers.Recreate": (id) => w.containers.some((c) => c.channel_id === id && c.scope),
    "Containers.Stop": (id) => {
      const c = named(id);
      c.status = "stopped";
      c.why = "was stopped by a person";
      c.holders = [];
      w.emit("container.status_changed", c.channel_id, "", c);
      return c;
    },
    "Containers.Remove": (id, force) => {
      const c = named(id);
      if (holdersOf(c).length > 0 && !force) throw fail("conflict", "Somebody uses this container.", "Wait for its end, or end what works in it with “loop rm --force”.");
      return drop(c);
    },
    "Containers.Prune": (dry, only) => {
      const list = unheld(only).map((c) => ({ container_id: c.container_id, container_name: c.container_name, channel_id: c.channel_id, why: c.remove_at ? "is kept for a look until it is removed" : "has stopped" }));
      if (!dry) for (const c of unheld(only)) drop(c);
      return list;
    },
    "Containers.Watch": () => ({ containers: w.containers.map(viewOf), cpus: 8, memory_bytes: 16 * 1024 * MB, warm_most: 10, on_app_exit: "keep" }),
    "Containers.Ports": (id, tried) => (named(id).type === "chrome" ? [] : w.ports.map((p) => (tried ? p : { ...p, kind: "", title: "" }))),
    "Containers.Log": (id, since) => {
      named(id);
      const from = Number(since || 0);
      return { text: w.logs.slice(from).map((l) => `${l}\n`).join(""), next: String(w.logs.length), running: true };
    },
    "System.Explain": () => EXPLANATION,
  };
}
