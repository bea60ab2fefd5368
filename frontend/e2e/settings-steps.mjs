// Steps of the flows of the settings.
import { until } from "./harness.mjs";

export const MINE = "{\n  // mine\n  \"container_memory_mb\": 4096\n}\n";
export const dialog = (page) => page.getByRole("dialog");

export async function settings(page, part) {
  await page.keyboard.press("Control+,");
  await dialog(page).waitFor();
  if (part) await page.getByRole("tab").filter({ has: page.getByText(part, { exact: true }) }).click(); // its name may count what is not saved
}

/** A setting by the name of its field. */
export const row = (page, name) => page.locator(`[data-field="${name}"]`);
export const field = (page, name) => row(page, name).locator("input, select, textarea").first();
export const focused = (page, selector) => until(`${selector} has the keyboard`, () => page.evaluate((s) => document.activeElement?.matches(s), selector));
export const titles = (page) => page.locator(".field-name label").allTextContents();
