// Steps that the tests of the browser's panel share.
import { becomes, until } from "./harness.mjs";

export const host = (page) => page.locator(".browser-page");
export const canvas = (page) => page.locator(".browser-page canvas");
export const keyboard = (page) => page.locator(".browser-surface");
export const bar = (page) => page.locator(".browser-baton strong");

/** Opens the browser's panel of a channel, and waits for its first frame. */
export async function openBrowser(page, mock, { name = "api-server", ready = true } = {}) {
  await page.getByRole("treeitem", { name }).click();
  await page.getByRole("textbox", { name: "Prompt" }).waitFor();
  await page.keyboard.press("Control+Shift+P");
  await page.locator("[cmdk-input]").waitFor();
  await page.keyboard.insertText("open: browser");
  await page.keyboard.press("Enter");
  await host(page).waitFor();
  const b = mock.browsers.of(mock.channel(name));
  if (ready) await painted(page, b);
  return b;
}

/** Waits until the newest frame is shown, and fits the pane. */
export async function painted(page, b) {
  await until("the newest frame is shown", async () => {
    const el = await canvas(page).elementHandle();
    return b.frame > 0 && (await el?.getAttribute("data-frame")) === String(b.frame);
  });
}

/** The screen's place of a point of the page. */
export async function placeOf(page, b, x, y) {
  const box = await canvas(page).boundingBox();
  const { width, height, zoom = 1 } = b.state.view;
  return [box.x + (x / Math.round(width / zoom)) * box.width, box.y + (y / Math.round(height / zoom)) * box.height];
}

export async function clickAt(page, b, x, y, options) {
  await page.mouse.click(...(await placeOf(page, b, x, y)), options);
}

export const drives = (page, who) => becomes(() => bar(page).textContent(), `${who} driving`);
export const acted = (b, name) => until(`the act ${name}`, () => b.acts.find(([n]) => n === name)?.[1] ?? false);
export const got = (b, kind) => b.inputs.filter((i) => i.kind === kind);
export const inPage = (page) => until("the page has the keyboard", () => page.evaluate(() => document.activeElement?.matches(".browser-surface")));
export const more = async (page, name) => {
  await page.locator(".browser-bar").getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name }).click();
};

/** The elements of a page with a sign-in form, each in the one before it. */
export const ELEMENTS = [
  { ref: 10, role: "document", name: "", selector: "body", x: 0, y: 0, width: 2000, height: 2000 },
  { ref: 11, role: "form", name: "Sign in", selector: "form", x: 20, y: 20, width: 300, height: 200 },
  { ref: 12, role: "alert", name: "Too many attempts. You can try again in 9 seconds.", selector: "div.alert", x: 40, y: 60, width: 200, height: 40, text: { size: 13, color: "#f5c08a", contrast: 9.9 } },
];
