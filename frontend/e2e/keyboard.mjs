// The flows without a mouse.
import { clean, CONTRAST, DIALOG } from "./clean.mjs";
import { becomes, equal, grab, ok, test, until } from "./harness.mjs";

const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "");

test("keyboard: open a folder by arrows and letters, send, read, copy", async (page, mock) => {
  await page.keyboard.press("Control+o");
  await page.getByRole("option", { name: "src" }).waitFor();
  await page.keyboard.press("Tab"); // from the close button or the path field into the list
  await until("the list has the focus", async () => {
    if ((await focused(page)) === "Folders") return true;
    await page.keyboard.press("Tab");
    return false;
  });
  await page.keyboard.press("s");
  await page.keyboard.press("Enter");
  await page.getByRole("option", { name: "storefront" }).waitFor();
  await page.keyboard.type("mono");
  await page.keyboard.press("Enter");
  await page.getByText("No folders in here").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByRole("heading", { name: "monorepo" }).waitFor();
  await until("the prompt box has the focus", async () => (await focused(page)) === "Prompt");
  await page.keyboard.type("first line");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("second line");
  await page.keyboard.press("Enter");
  await page.getByText("Done", { exact: true }).waitFor();
  equal(mock.log.find((c) => c.name === "Runs.Prompt").args[0].prompt, "first line\nsecond line");
  await page.keyboard.press("Shift+F6"); // back to the timeline
  await until("an item has the focus", () => page.evaluate(() => document.activeElement?.tagName === "ARTICLE"));
  for (let i = 0; i < 12 && !(await focused(page)).startsWith("Run echo"); i++) {
    const was = await focused(page);
    await page.keyboard.press("k");
    await until("the focus moved", async () => (await focused(page)) !== was);
  }
  await page.keyboard.press("Enter");
  await page.getByRole("figure", { name: "Output" }).waitFor();
  await page.keyboard.press("c");
  await until("the clipboard has it", async () => (await page.evaluate(() => navigator.clipboard.readText())).startsWith("$ echo 'to be"));
  await page.keyboard.press("ArrowLeft");
  await page.getByRole("figure", { name: "Output" }).waitFor({ state: "detached" });
});

test("keyboard: a folder's path completes as it is typed, hidden ones show when asked for, and the place is kept", async (page, mock) => {
  await page.keyboard.press("Control+o");
  const path = page.getByLabel("Path");
  const names = () => page.getByRole("option").allInnerTexts();
  await page.getByRole("option", { name: "Documents" }).waitFor();
  equal(await names(), ["Up one folder", "Documents", "Music", "src"], "without hidden ones");
  await grab(page.getByRole("listbox", { name: "Folders" }));
  await page.keyboard.press(".");
  await becomes(names, ["Up one folder", ".cache", ".config", "Documents", "Music", "src"], "with hidden ones");
  await page.keyboard.press(".");
  await path.fill("/home/ana/.c");
  await becomes(names, [".cache", ".config"], "a typed dot");
  await path.fill("/home/ana/D");
  await becomes(names, ["Documents"], "what begins so");
  await page.keyboard.press("Tab");
  await becomes(() => path.inputValue(), "/home/ana/Documents/", "completed");
  await path.fill("/home/ana/src/zz");
  await page.getByText("No folder in here begins so.").waitFor();
  await path.fill("/home/ana/src/in");
  await becomes(names, ["infra"], "one in another folder");
  await clean(page, "the chooser", { within: DIALOG, looks: CONTRAST });
  await page.keyboard.press("Enter");
  await page.getByText("No folders in here").waitFor();
  await page.keyboard.press("Enter"); // the path field has the keyboard still
  await page.getByRole("heading", { name: "infra" }).waitFor();
  await becomes(() => mock.world.memory["folder.last"], "/home/ana/src", "kept");
  await page.keyboard.press("Control+o");
  await page.getByRole("option", { name: "monorepo" }).waitFor();
  await page.keyboard.press("Escape");
});

test("keyboard: the tree by arrows and letters, history at the edges of the box", async (page) => {
  await page.keyboard.press("F6");
  await until("the sidebar has the focus", () => page.evaluate(() => Boolean(document.activeElement?.closest("nav"))));
  await grab(page.getByRole("treeitem").first());
  await page.keyboard.press("i");
  await until("type-ahead", async () => (await focused(page)).startsWith("infra"));
  await page.keyboard.press("ArrowDown");
  await until("arrow", async () => (await focused(page)).startsWith("storefront"));
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "api-server" }).waitFor();
  await page.getByText("Fixed.").waitFor();
  await page.keyboard.press("Control+l");
  await page.keyboard.type("draft");
  const box = page.getByRole("textbox", { name: "Prompt" });
  // The key only moves the caret until Loop has answered with the earlier prompts.
  await until("the earlier prompt", async () => {
    await page.keyboard.press("ArrowUp");
    return (await box.inputValue()).startsWith("The login test");
  });
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowDown");
  await becomes(() => box.inputValue(), "draft", "the draft comes back");
  await page.keyboard.press("Alt+ArrowDown");
  await page.getByRole("heading", { name: "docs" }).waitFor();
});

test("keyboard: palette takes the first letters, gives the focus back", async (page) => {
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.type("store");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "storefront" }).waitFor();
  await until("the prompt box has the focus", async () => (await focused(page)) === "Prompt");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").waitFor();
  await page.keyboard.press("Escape");
  await until("the focus is back", async () => (await focused(page)) === "Prompt");
});

test("keyboard: every stop is visible and named", async (page) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Fixed.").waitFor();
  const seen = new Set();
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const el = document.activeElement;
      if (!el || el === document.body) return null;
      const s = getComputedStyle(el);
      const ring = s.outlineStyle !== "none" || el.closest(".prompt-box") !== null;
      return { name: el.getAttribute("aria-label") || el.textContent || el.getAttribute("title") || "", ring, box: el.getBoundingClientRect().width > 0, html: el.outerHTML.slice(0, 120) };
    });
    if (!stop) continue;
    ok(stop.name.trim() !== "", `no name: ${stop.html}`);
    ok(stop.ring && stop.box, `focus not visible: ${stop.html}`);
    seen.add(stop.html);
  }
  ok(seen.size > 15, `only ${seen.size} stops`);
});

test("nothing takes the focus while a run goes on", { speed: 3 }, async (page) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  const box = page.getByRole("textbox", { name: "Prompt" });
  await box.fill("go");
  await page.keyboard.press("Enter");
  await page.keyboard.type("typing all the while ", { delay: 40 });
  await page.keyboard.type("without a letter lost", { delay: 40 });
  await page.getByText("Done", { exact: true }).waitFor();
  await becomes(() => box.inputValue(), "typing all the while without a letter lost");
});
