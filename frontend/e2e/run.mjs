// npm run e2e [-- filter]: tests the built page in Chromium against a mock of Loop, or a real one where a flow needs no engine.
import { existsSync } from "node:fs";
import { run } from "./harness.mjs";
import "./flows.mjs";
import "./keyboard.mjs";
import "./rows.mjs";
import "./subagents.mjs";
import "./waiting.mjs";
import "./stop.mjs";
import "./focus.mjs";
import "./faults.mjs";
import "./branches.mjs";
import "./gate.mjs";
import "./decisions.mjs";
import "./files.mjs";
import "./workspace.mjs";
import "./rules.mjs";
import "./containers.mjs";
import "./settings.mjs";
import "./claude-setup.mjs";
import "./usage.mjs";
import "./unseen.mjs";
import "./checks.mjs";
import "./changed.mjs";
import "./leaving.mjs";
import "./prompt-files.mjs";
import "./mention.mjs";
import "./axe.mjs";
import "./footage.mjs";
import "./browser-pane.mjs";
import "./browser-tools.mjs";
import "./terminal-keys.mjs";
import "./dock.mjs";
import "./dock-memory.mjs";
import "./strip.mjs";
import "./terminal-pane.mjs";
import "./terminal-find.mjs";
import "./terminal-flood.mjs";
import "./terminal-look.mjs";

if (!existsSync(new URL("../dist/index.html", import.meta.url))) {
  console.error("No page in dist/: run “npm run build” first.");
  process.exit(2);
}
process.exit((await run(process.argv[2])) ? 1 : 0);
