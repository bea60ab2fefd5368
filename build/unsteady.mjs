// Lists the tests that passed on a later try: node build/unsteady.mjs DIRECTORY
//
// Reads the output of go test (*.events.json, as gotestsum keeps it) and the lines of
// page and window flows (*.unsteady: name, tab, first error). Exits with 1 when the
// list has more than `most` tests: a run that needs so much luck proves nothing.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const most = 5;

/** Whether a line of a test's output is one that the test only logs. */
function logged(pkg, line) {
  const [, file, number] = /^([\w.]+_test\.go):(\d+):/.exec(line) ?? [];
  const path = file && join(pkg.replace(/^loop\//, ""), file);
  return path !== undefined && existsSync(path) && /\.Logf?\(/.test(readFileSync(path, "utf8").split("\n")[number - 1] ?? "");
}

/** The first line that a Go test's output gives as its failure. */
function firstError(pkg, output) {
  const lines = output.map((l) => l.trim()).filter((l) => l && !/^(=== |--- |PASS|FAIL)/.test(l) && !logged(pkg, l));
  return lines.find((l) => /_test\.go:\d+:/.test(l)) ?? lines[0] ?? "no output";
}

/** Go tests of one file of events that failed and passed later, with their first error. */
function unsteadyOf(text) {
  const runs = new Map(); // test → { output of the try under way, error of the first failure, passed }
  for (const line of text.split("\n")) {
    if (!line.startsWith("{")) continue;
    const { Action, Package, Test, Output } = JSON.parse(line);
    if (!Test) continue;
    const root = `${Package}.${Test.split("/")[0]}`;
    const run = runs.get(root) ?? { output: [] };
    runs.set(root, run);
    if (Action === "output") run.output.push(Output);
    if (Test.includes("/")) continue;
    if (Action === "fail") Object.assign(run, { error: run.error ?? firstError(Package, run.output), passed: false, output: [] });
    if (Action === "pass") Object.assign(run, { passed: true, output: [] });
  }
  return [...runs].filter(([, r]) => r.error && r.passed).map(([name, r]) => [name, r.error]);
}

const dir = process.argv[2];
const found = readdirSync(dir).sort().flatMap((f) => {
  const read = () => readFileSync(join(dir, f), "utf8");
  if (f.endsWith(".events.json")) return unsteadyOf(read());
  if (f.endsWith(".unsteady")) return read().split("\n").filter(Boolean).map((l) => l.split("\t"));
  return [];
});
for (const [name, error] of found) console.log(`unsteady: ${name}: ${error}`);
if (found.length > most) {
  console.log(`${found.length} tests passed on a later try only; at most ${most} may.`);
  process.exit(1);
}
