// Where there is little room: the sidebar is a rail, and lies over the page when it is asked for.
import { clean, CONTRAST } from "./clean.mjs";
import { becomes, equal, ok, test, until } from "./harness.mjs";

const rail = (page) => page.locator(".states");
const over = (page) => page.locator(".sidebar-over");
const has = (page, selector) => until(`${selector} has the keyboard`, () => page.evaluate((s) => Boolean(document.activeElement?.matches(s)), selector));
const wide = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

test("narrow: below 1000 px the sidebar is a rail of states, and Ctrl+B lays it over", { size: [900, 600] }, async (page) => {
  await rail(page).getByRole("button", { name: "api-server, done" }).click();
  await page.getByText("Fixed.").first().waitFor();
  equal(await page.locator(".sidebar").count(), 0);
  await clean(page, "a rail", { looks: CONTRAST });
  await page.getByRole("textbox", { name: "Prompt" }).focus();
  await page.keyboard.press("Control+b");
  await over(page).waitFor();
  await has(page, "[role=treeitem]");
  await clean(page, "the sidebar over the page");
  await page.keyboard.press("Escape");
  await over(page).waitFor({ state: "detached" });
  await has(page, "[data-prompt]");
  // A choice closes it, and leads to the prompt; so does a click beside it.
  await page.keyboard.press("Control+b");
  await has(page, "[role=treeitem]");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await over(page).waitFor({ state: "detached" });
  await has(page, "[data-prompt]");
  await page.getByRole("heading", { level: 1, name: /docs/ }).waitFor();
  await page.keyboard.press("Control+b");
  await over(page).waitFor();
  await page.locator("main").click({ position: { x: 700, y: 300 } });
  await over(page).waitFor({ state: "detached" });
  // The menu of a channel belongs to it.
  await page.keyboard.press("Control+b");
  await has(page, "[role=treeitem]");
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name: "Rename" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("menuitem", { name: "Rename" }).waitFor({ state: "detached" });
  await over(page).waitFor();
  await page.keyboard.press("Escape");
  await over(page).waitFor({ state: "detached" });
  // The rail itself has arrow keys.
  await rail(page).getByRole("button", { name: /^docs/ }).focus();
  await page.keyboard.press("ArrowDown");
  await becomes(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label")?.split(",")[0]), "infra");
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await over(page).waitFor();
  await page.setViewportSize({ width: 1200, height: 700 });
  await over(page).waitFor({ state: "detached" });
  await page.locator("nav.sidebar").waitFor();
});

test("narrow: at 320 px everything is reached, and nothing is cut off", { size: [320, 640] }, async (page) => {
  equal(await rail(page).count(), 0);
  await page.getByRole("button", { name: "Show the sidebar" }).click();
  await clean(page, "the sidebar at 320 px");
  await over(page).getByRole("treeitem", { name: "api-server" }).click();
  await over(page).waitFor({ state: "detached" });
  await page.getByText("Fixed.").first().waitFor();
  equal(await wide(page), 0, "the page scrolls sideways");
  await clean(page, "a channel at 320 px", { looks: CONTRAST });
  const send = await page.getByRole("button", { name: /^Send/ }).first().boundingBox();
  ok(send.x + send.width <= 320, "Send is in sight");
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.insertText("review of what");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Review", exact: true }).waitFor();
  equal(await wide(page), 0, "the page scrolls sideways with a review");
  await clean(page, "a review at 320 px");
  await page.keyboard.press("F8");
  await page.keyboard.press("F8");
  await page.getByRole("region", { name: "Desk" }).waitFor();
  equal(await wide(page), 0, "the page scrolls sideways with the desk");
  await page.keyboard.press("Control+,");
  await page.getByRole("dialog").waitFor();
  const box = await page.getByRole("dialog").boundingBox();
  ok(box.x >= 0 && box.x + box.width <= 320, "the dialog is in sight");
  await clean(page, "settings at 320 px");
});
