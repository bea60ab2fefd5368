// A real Loop for flows that need no container engine: “loop serve” in a folder of its own,
// with the page that the program embeds. build/binaries.sh builds the program.
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const BIN = process.env.LOOP_BIN ?? fileURLToPath(new URL("../../build/bin/loop", import.meta.url));

/** projects: names of folders, each of which becomes a channel. config: text of the global settings file. */
export async function startLoop({ projects = ["docs", "infra"], config = "{}\n" } = {}) {
  const root = await mkdtemp(join(tmpdir(), "loop-page-"));
  const home = join(root, "home");
  const files = { global: join(home, "config.json"), project: join(root, projects[0], ".loop", "config.json") };
  await mkdir(home, { mode: 0o700 });
  await writeFile(files.global, config, { mode: 0o600 });
  for (const name of projects) await mkdir(join(root, name));
  const child = spawn(BIN, ["serve"], {
    // The address leads to no engine, so this computer's engine cannot change a flow.
    env: { PATH: process.env.PATH, HOME: root, LOOP_HOME: home, LOOP_KEYRING: "file", DOCKER_HOST: `unix://${root}/no-engine.sock` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (d) => (said += d));
  const ended = new Promise((resolve) => child.once("close", resolve));
  const url = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const m = /https?:\/\/\S+#token=\S+/.exec(line);
      if (m) resolve(m[0]);
    });
    child.once("error", (e) => reject(new Error(`${e.message}; “build/binaries.sh loop” makes it`)));
    void ended.then(() => reject(new Error(`loop serve ended: ${said}`)));
  });
  const at = new URL(url);
  const token = at.hash.slice("#token=".length);
  async function call(name, ...args) {
    const res = await fetch(new URL(`api/call/${name}`, at), {
      method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` }, body: JSON.stringify(args),
    });
    const answer = await res.json();
    if (!res.ok) throw new Error(`${name}: ${JSON.stringify(answer)}`);
    return answer;
  }
  for (const name of projects) await call("Channels.Add", join(root, name), "");
  return {
    url, address: at.origin, root, home, files, call,
    text: (scope) => readFile(files[scope], "utf8"),
    async write(scope, text) {
      await mkdir(dirname(files[scope]), { recursive: true });
      await writeFile(files[scope], text, { mode: 0o600 });
    },
    async close() {
      child.kill("SIGTERM");
      await ended;
      await rm(root, { recursive: true, force: true });
    },
  };
}
