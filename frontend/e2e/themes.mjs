// Flows of imported themes, on a real Loop that reads and keeps them.
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { clean, CONTRAST, DIALOG } from "./clean.mjs";
import { becomes, equal, ok, test, until } from "./harness.mjs";

const scheme = (name, colours) => JSON.stringify({ name, cursorColor: "#4f525d", selectionBackground: "#bfceff", black: "#383a42", red: "#e45649", green: "#50a14f", yellow: "#c18301", blue: "#0184bc", purple: "#a626a4", cyan: "#0997b3", white: "#fafafa", ...colours });
const LIGHT = scheme("Half", { background: "#fafafa", foreground: "#383a42" });
const DARK = scheme("Half", { background: "#282c34", foreground: "#dcdfe4", selectionBackground: "#3e4451" });
const ITERM = `<?xml version="1.0"?><plist version="1.0"><dict>${[["Background", 0.2, 0.05, 0.3], ["Foreground", 0.9, 0.85, 0.95]].map(([n, r, g, b]) => `<key>${n} Color</key><dict><key>Red Component</key><real>${r}</real><key>Green Component</key><real>${g}</real><key>Blue Component</key><real>${b}</real></dict>`).join("")}</dict></plist>`;
const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.value ?? document.activeElement?.textContent ?? "");
const ground = (page) => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--bg-1").trim());
const wider = (page) => page.evaluate(() => [...document.querySelectorAll("[role=dialog] *")].filter((el) => !el.closest("details:not([open])") && el.getBoundingClientRect().right > innerWidth + 1).length);

async function themes(page) {
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("themes: import");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Themes" }).waitFor();
}
const paste = (page, text) => page.getByRole("textbox", { name: "Text of the theme" }).fill(text);

test("themes: pasted, shown, kept, followed by light and dark, and removed, by keyboard alone", { loop: {} }, async (page, loop, context) => {
  await page.getByRole("treeitem", { name: "docs" }).press("Enter");
  await themes(page);
  await becomes(() => focused(page), "Text of the theme", "where the dialog begins");
  await page.evaluate((text) => navigator.clipboard.writeText(text), LIGHT);
  await page.keyboard.press("Control+v");
  await page.getByRole("img", { name: "How the light theme looks" }).waitFor();
  await page.getByText(/colours could not be read well/).waitFor();
  await page.getByText("needs 4.5").first().waitFor({ state: "attached" });
  equal(await ground(page), "#14171b", "nothing is worn before it is kept");
  await clean(page, "a read theme", { within: DIALOG, looks: CONTRAST });
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/themes-read.png` });
  await page.getByRole("button", { name: "Keep and use" }).press("Enter");
  await becomes(() => ground(page), "#fafafa", "worn");
  await becomes(() => focused(page), "Text of the theme", "the keyboard after it is kept");
  equal(JSON.parse(await loop.text("global")).theme, "Half", "the setting");
  await clean(page, "themes, in an imported light one", { within: DIALOG, looks: [] });
  await page.getByRole("radio", { name: /Half/ }).waitFor();
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/themes-light.png` });

  await paste(page, DARK);
  await page.getByText("It becomes the dark look of").waitFor();
  await page.getByRole("button", { name: "Keep", exact: true }).press("Enter");
  await page.getByText("dark and light, like the system").waitFor();
  await becomes(() => ground(page), "#282c34", "the system is dark");
  await page.emulateMedia({ colorScheme: "light" });
  await becomes(() => ground(page), "#fafafa", "the system is light");
  await page.emulateMedia({ colorScheme: "dark" });
  await becomes(() => ground(page), "#282c34", "and dark again");

  const second = await context.newPage();
  await second.emulateMedia({ colorScheme: "dark" });
  await second.goto(loop.url);
  await second.getByText("today $").waitFor();
  await becomes(() => ground(second), "#282c34", "a second window");
  await second.close();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("textbox", { name: "Prompt" }).waitFor();
  await clean(page, "the page in an imported dark theme", { looks: [] });
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/themes-page.png` });

  await themes(page);
  await page.getByRole("button", { name: "Remove Half" }).press("Enter");
  await becomes(() => ground(page), "#14171b", "taken off");
  await page.getByRole("radio", { name: /Half/ }).waitFor({ state: "detached" });
  await becomes(() => focused(page), "system", "the keyboard after it is removed");
  equal(await readdir(join(loop.home, "themes")), [], "its file");
});

test("themes: from a file, with a name, what is none, one that is gone, and what others put there", { loop: {}, quietErrors: true }, async (page, loop) => {
  await themes(page);
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Choose a file…" }).click();
  await (await chooser).setFiles({ name: "Plum.itermcolors", mimeType: "text/xml", buffer: Buffer.from(ITERM) });
  await page.getByText("iTerm2, dark.").waitFor();
  equal(await page.getByRole("textbox", { name: "Name" }).getAttribute("placeholder"), "Plum", "the file's name");
  await page.getByRole("textbox", { name: "Name" }).fill("dark");
  await page.getByRole("button", { name: "Keep", exact: true }).click();
  await page.getByText("is the name of one of Loop's own themes").waitFor();
  await page.getByRole("textbox", { name: "Name" }).fill("Plum <b>two</b>");
  await page.getByRole("button", { name: "Keep and use" }).click();
  await becomes(() => ground(page), "#330d4d", "worn");
  for (const [text, why] of [["{", "no whole JSON"], ["{\"include\": \"x\"}", "only builds on another file"], [`{"colors": {"editor.background": "red; } * { display: none }"}}`, "no “editor.background”"], ["plain", "no theme that Loop can read"]]) {
    await paste(page, text);
    await page.getByRole("alert").getByText(why).waitFor();
    equal(await page.getByRole("button", { name: "Keep", exact: true }).count(), 0, "nothing to keep");
  }
  await clean(page, "a refused theme", { within: DIALOG, looks: [] });

  await mkdir(join(loop.home, "themes"), { recursive: true });
  await writeFile(join(loop.home, "themes", "evil.json"), JSON.stringify({ name: "evil", looks: [{ dark: true, colors: { "bg-1": "red;} * {display:none" } }] }));
  equal((await loop.call("Settings.Themes")).map((t) => t.name), ["Plum <b>two</b>"], "what others put there");
  await loop.write("global", "{\n  \"theme\": \"nowhere\"\n}\n");
  await becomes(() => ground(page), "#14171b", "an unknown theme looks as the system says");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /1 (problem|warning)|problem/ }).first().waitFor();
  ok((await loop.call("System.Snapshot")).config.problems.some((p) => p.field === "theme" && p.message.includes("“nowhere”")), "no notice");
});

test("themes: of 320 pixels, and more contrast comes first", { loop: {}, size: [320, 640] }, async (page, loop) => {
  await loop.call("Settings.KeepTheme", "Plum", ITERM);
  await loop.call("System.SetTheme", "Plum");
  await becomes(() => ground(page), "#330d4d", "worn");
  await clean(page, "a narrow page in an imported theme", { looks: [] });
  await themes(page);
  await paste(page, LIGHT);
  await page.getByRole("img", { name: "How the light theme looks" }).waitFor();
  equal(await wider(page), 0, "wider than the page");
  await clean(page, "themes", { within: DIALOG, looks: [] });
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/themes-320.png` });
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("?");
  await page.getByRole("button", { name: "Change keys…" }).press("Enter");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await clean(page, "keys in an imported theme", { within: DIALOG, looks: [] });
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+,");
  await page.getByRole("combobox", { name: "Part of the settings" }).selectOption("Look");
  await page.getByRole("checkbox", { name: "More contrast" }).check();
  await becomes(() => ground(page), "#000", "Loop's own");
  await page.getByRole("button", { name: "Themes…" }).press("Enter");
  await page.getByText("More contrast is on").waitFor();
  await until("the name is still chosen", () => page.getByRole("radio", { name: /Plum/ }).isChecked());
});
