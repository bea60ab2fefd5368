// Takes pictures of a pane in all its states: node e2e/pane/shots.mjs [folder] [filter]
import { mkdirSync } from "node:fs";
import { launch } from "../browser.mjs";
import { startMock } from "../mock/server.mjs";
import { drawn, last, shows } from "./open.mjs";
import { buildPane, PANE } from "./build.mjs";

const out = process.argv[2] ?? "/tmp/loop-pane-shots";
const only = process.argv[3];
mkdirSync(out, { recursive: true });
await buildPane();
const browser = await launch();

async function shot(name, { theme = "dark", query = "", size = [760, 460], prepare = () => {}, wait = true } = {}, act = async () => {}) {
  if (only && !name.includes(only)) return;
  const mock = await startMock({ dist: PANE });
  mock.terminals.program = "shell";
  prepare(mock);
  const context = await browser.newContext({ viewport: { width: size[0], height: size[1] }, colorScheme: theme });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: mock.address });
  const page = await context.newPage();
  page.on("pageerror", (e) => console.log(`${name}: ${e}`));
  await page.goto(`${mock.address}/?channel=c1&theme=${theme}&${query}#token=${mock.token}`);
  if (wait) await drawn(page);
  await act(page, mock);
  await page.waitForTimeout(350);
  await page.screenshot({ path: `${out}/${name}.png` });
  await context.close();
  await mock.close();
}

const work = async (page) => {
  await page.keyboard.type("ls\rtest\rstatus\rfalse\r");
  await shows(page, "$ false");
};
const colours = async (_, mock) => {
  let s = "\r\n";
  for (const [from, kind] of [[30, "fg"], [90, "bright"], [40, "bg"], [100, "bright bg"]]) {
    for (let i = 0; i < 8; i++) s += `\x1b[${from + i}m ${kind} ${i} \x1b[0m`;
    s += "\r\n";
  }
  s += "\x1b[1mbold\x1b[0m \x1b[2mdim\x1b[0m \x1b[3mitalic\x1b[0m \x1b[4munder\x1b[0m \x1b[4:3mcurly\x1b[0m \x1b[7mreverse\x1b[0m \x1b[9mgone\x1b[0m 日本語 한국어 é 👩‍💻 ┌─┬─┐ ░▒▓█ => != ===\r\n\x1b[7;1H";
  await last(mock).write(s);
};

for (const theme of ["dark", "light"]) {
  await shot(`work-${theme}`, { theme }, work);
  await shot(`colours-${theme}`, { theme, prepare: (m) => (m.terminals.program = "silent") }, colours);
  await shot(`search-${theme}`, { theme }, async (page) => {
    await page.keyboard.type("seq 40\r");
    await shows(page, "line 40");
    await page.keyboard.press("Control+Shift+F");
    await page.getByRole("textbox", { name: "Find in the terminal" }).fill("line 3");
    await page.waitForTimeout(300);
  });
  await shot(`ended-${theme}`, { theme }, async (page) => {
    await work(page);
    await page.keyboard.type("exit 137\r");
    await page.getByText("exit code 137").waitFor();
  });
}
await shot("contrast-dark", { query: "contrast=more" }, colours);
await shot("contrast-light", { theme: "light", query: "contrast=more" }, work);
await shot("opening", { wait: false, prepare: (m) => m.terminals.hold() }, (p) => p.waitForTimeout(1600));
await shot("failed", { wait: false, prepare: (m) => (m.terminals.failNext = { error_code: "session_failed", message: "The container of this channel could not be started.", remedy: "Look at the checks: Docker does not answer." }) }, (p) => p.getByText("Look at the checks").waitFor());
await shot("break", {}, async (page, mock) => {
  await work(page);
  mock.down();
  await page.getByText("Loop does not answer.").waitFor();
});
await shot("menu", {}, async (page) => {
  await work(page);
  await page.mouse.click(420, 90, { button: "right" });
  await page.getByRole("menuitem").first().waitFor();
});
await shot("paste", {}, async (page) => {
  await page.evaluate(() => navigator.clipboard.writeText("cd /tmp\ncurl https://example.com/install.sh | sh\nrm -rf build\n"));
  await page.keyboard.press("Control+Shift+V");
  await page.getByRole("dialog").waitFor();
});
await shot("behind", {}, async (page, mock) => {
  await page.keyboard.type("seq 90\r");
  await shows(page, "line 90");
  await page.mouse.move(300, 200);
  await page.mouse.wheel(0, -500);
  await page.evaluate(() => window.pane.handle.record(true));
  await last(mock).write("\x1b]9;4;1;60\x07more\r\n");
  await page.getByRole("button", { name: "New output" }).waitFor();
});
await shot("link", { prepare: (m) => (m.terminals.program = "silent") }, async (page, mock) => {
  await last(mock).write("\r\nsee \x1b]8;;https://evil.example/real\x07https://good.example\x1b]8;;\x07 for more\r\n");
  await shows(page, "good.example");
  await page.mouse.move(90, 68);
});
await shot("tui", {}, async (page) => {
  await page.keyboard.type("tui\r");
  await shows(page, "top of");
});
await shot("recording", { wait: false, query: "recording=a.cast", prepare: (m) => m.terminals.addRecording("a.cast", [{ version: 2, width: 80, height: 16, timestamp: 1, title: "make test" }, [0.1, "o", "$ make test\r\n\x1b[32mok\x1b[0m  ./backend/core  0.3s\r\n\x1b[32mok\x1b[0m  ./backend/bus  1.2s\r\n"], [90, "o", "done\r\n"]].map((x) => JSON.stringify(x)).join("\n")) }, (p) => shows(p, "backend/bus"));
await browser.close();
console.log(out);
