// What tests of the panels share.
import { until } from "./harness.mjs";

export const enter = async (page, name = "api-server") => {
  await page.getByRole("treeitem", { name }).click();
  await page.getByRole("textbox", { name: "Prompt" }).waitFor();
};
export const tabs = (page) => page.locator(".dock-strip").evaluateAll((all) => all.map((s) => [...s.querySelectorAll("[role=tab]")].map((t) => t.querySelector(".ellipsis").textContent)));
export const boxes = (page) => page.locator(".dock-panel:not(.off)").evaluateAll((all) => all.map((p) => { const r = p.getBoundingClientRect(); return [r.left, r.top, r.width, r.height].map(Math.round); }));
export const live = (page, n) => until(`${n} terminals are drawn`, () => page.locator(".term:not(.loading) .xterm-rows").count().then((c) => c === n), 15_000);
export const inTerminal = (page) => page.evaluate(() => document.activeElement?.closest(".dock-panel")?.id ?? "");
/** The terminal with the keyboard is ready for it. */
export const ready = (page) => until("a terminal has the keyboard", () => page.evaluate(() => Boolean(document.activeElement?.matches(".xterm-helper-textarea") && !document.activeElement.closest(".term.loading"))), 15_000);
export const sessions = (mock) => [...mock.terminals.sessions.values()];
export const typed = (s) => s.input.toString().replaceAll("\u001b[I", "").replaceAll("\u001b[O", ""); // where the focus is

export async function four(page, mock) {
  await enter(page);
  await page.keyboard.press("Control+Shift+T");
  await ready(page);
  await page.keyboard.press("Control+Shift+D");
  await until("a second", () => sessions(mock).length === 2);
  await ready(page);
  await page.keyboard.press("Control+Shift+E");
  await until("a third", () => sessions(mock).length === 3);
  await ready(page);
  await page.keyboard.press("Alt+Shift+ArrowLeft");
  await ready(page);
  await page.keyboard.press("Control+Shift+E");
  await until("a fourth", () => sessions(mock).length === 4);
  await ready(page);
  await live(page, 4);
}
