// node e2e/run-pane.mjs [filter]: runs only the tests of one terminal pane. They need no built page.
import { run } from "./harness.mjs";
import "./terminal-find.mjs";
import "./terminal-keys.mjs";
import "./terminal-pane.mjs";
import "./terminal-flood.mjs";
import "./terminal-look.mjs";

process.exit((await run(process.argv[2])) ? 1 : 0);
