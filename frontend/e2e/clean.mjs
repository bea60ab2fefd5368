// The accessibility checker axe finds nothing in what a page shows, dark or light.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { equal, still } from "./harness.mjs";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
// The rules whose outcome depends on a theme. For all others a theme is nothing: it
// changes values of colours, and no element, name, place or size.
const COLOURS = ["color-contrast", "link-in-text-block"];
const LIGHT = { theme: "light" };
export const DIALOG = "[role=dialog]", MENU = "[role=menu]";
/** The light theme, also with more contrast. */
export const CONTRAST = [LIGHT, { theme: "light", contrast: "more" }];

// In the page: what axe finds of these rules. Nothing but violations is described, which is most of the work.
const find = (page, within, runOnly) => page.evaluate(async ([part, only]) => {
  const r = await window.axe.run(document.querySelector(part), { runOnly: only, resultTypes: ["violations"] });
  const node = (n) => `${n.target.join(" ")} ${n.any[0]?.message ?? n.all[0]?.message ?? ""}`;
  return r.violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map(node).join(" | ")}`);
}, [within, runOnly]);

/**
 * Looks at the page as it is by all rules, then at the same state in other looks by those
 * about colours, and leaves the page as it was. within: only at what is in there, where the
 * page behind is one that is looked at elsewhere; rules about a whole page are left out then.
 */
export async function clean(page, what, { within = "html", looks = [LIGHT] } = {}) {
  await still(page);
  if (!(await page.evaluate(() => Boolean(window.axe)))) await page.evaluate(source);
  equal(await find(page, within, TAGS), [], what);
  const was = await page.evaluate(() => ({ ...document.documentElement.dataset }));
  for (const look of looks) {
    await wear(page, look);
    equal(await find(page, within, COLOURS), [], `${what}, ${Object.values(look).join(", ")}`);
  }
  await wear(page, was);
}

/** The page in another theme, as the setting puts it on; terminals follow in the frames after. */
async function wear(page, { theme, contrast = "" }) {
  await page.evaluate(([t, c]) => {
    const { dataset } = document.documentElement;
    dataset.theme = t;
    if (c) dataset.contrast = c;
    else delete dataset.contrast;
  }, [theme, contrast]);
  await still(page, 4); // colours go over into others, one element after another
}
