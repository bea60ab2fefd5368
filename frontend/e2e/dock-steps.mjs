// Steps that the tests of panels share.
import { becomes, until } from "./harness.mjs";

/** Option of a test that is not about timelines: its channels are empty, which costs less to draw. */
export const quiet = { scenario: "quiet" };

export const enter = async (page, name = "api-server") => {
  await page.getByRole("treeitem", { name }).click();
  await page.getByRole("textbox", { name: "Prompt" }).waitFor();
};
export const tabs = (page) => page.locator(".dock-strip").evaluateAll((all) => all.map((s) => [...s.querySelectorAll("[role=tab]")].map((t) => t.querySelector(".ellipsis").textContent)));
export const boxes = (page) => page.locator(".dock-panel:not(.off)").evaluateAll((all) => all.map((p) => { const r = p.getBoundingClientRect(); return [r.left, r.top, r.width, r.height].map(Math.round); }));
export const live = (page, n) => until(`${n} terminals are drawn`, () => page.locator(".term:not(.loading) .xterm-rows").count().then((c) => c === n));
export const inTerminal = (page) => page.evaluate(() => document.activeElement?.closest(".dock-panel")?.id ?? "");
/** Waits until a terminal has the keyboard and is ready for keys. */
export const ready = (page) => until("a terminal has the keyboard", () => page.evaluate(() => Boolean(document.activeElement?.matches(".xterm-helper-textarea") && !document.activeElement.closest(".term.loading"))));
/** Presses a key that opens a terminal, and waits until it has the keyboard. */
export async function opens(page, mock, key, n) {
  const was = await inTerminal(page);
  await page.keyboard.press(key);
  await becomes(() => sessions(mock).length, n, `sessions after ${key}`);
  await until("the keyboard is in another panel", async () => ![was, ""].includes(await inTerminal(page)));
  await ready(page);
}
/** Waits until the shell in the terminal with the keyboard wants a command, and the page knows it. */
export const prompted = (page) => until("the shell waits", () => page.evaluate(() => {
  const lines = [...(document.activeElement?.closest(".term")?.querySelectorAll(".xterm-rows > div") ?? [])].map((d) => d.textContent.replaceAll("\u00a0", " ").trimEnd());
  return lines.findLast((l) => l !== "") === "$";
}));
export const sessions = (mock) => [...mock.terminals.sessions.values()];
export const typed = (s) => s.input.toString().replaceAll("\u001b[I", "").replaceAll("\u001b[O", ""); // without the reports of focus

export async function four(page, mock) {
  await enter(page);
  await opens(page, mock, "Control+Shift+T", 1);
  await opens(page, mock, "Control+Shift+D", 2);
  await opens(page, mock, "Control+Shift+E", 3);
  const was = await inTerminal(page);
  await page.keyboard.press("Alt+Shift+ArrowLeft");
  await until("the one on the left", async () => ![was, ""].includes(await inTerminal(page)));
  await opens(page, mock, "Control+Shift+E", 4);
  await live(page, 4);
}
