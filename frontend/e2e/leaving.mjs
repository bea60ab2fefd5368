// Closing the window and quitting Loop.
import { clean, DIALOG } from "./clean.mjs";
import { becomes, equal, ok, test, until } from "./harness.mjs";
import { ask, openWindow, under } from "./window.mjs";

const called = (mock, name) => mock.log.filter((c) => c.name === `System.${name}`).length;
const focused = (page) => page.evaluate(() => document.activeElement?.textContent ?? "");
const dialog = (page, name) => page.getByRole("dialog", { name });
const inWindow = { open: openWindow, scenario: "quiet" };

test("quit: what would end is listed, and Cancel and Escape keep it", inWindow, async (page, mock) => {
  mock.world.leaving = under;
  const box = page.getByRole("textbox", { name: "Prompt" });
  await page.getByRole("treeitem", { name: "infra" }).click();
  await box.fill("half a thought");
  await page.keyboard.press("Control+q");
  for (const text of ["npm run dev", "on this computer", "The recording", "The build of the agent image", "Fix the flaky test", "Show me around", "starts at"]) await dialog(page, "Quit Loop").getByText(text).first().waitFor();
  await until("the direction of text is not turned", async () => (await page.locator(".dialog .hidden-char").allInnerTexts()).includes("RLO"));
  await becomes(() => focused(page), "Cancel", "the safe answer has the keyboard");
  await page.keyboard.press("Control+q"); // the key again does not confirm
  await page.keyboard.press("Enter");
  await dialog(page, "Quit Loop").waitFor({ state: "detached" });
  await until("the prompt box has the keyboard again", () => box.evaluate((el) => el === document.activeElement && el.value === "half a thought"));
  await page.keyboard.press("Control+q");
  await dialog(page, "Quit Loop").waitFor();
  await page.keyboard.press("Escape");
  await dialog(page, "Quit Loop").waitFor({ state: "detached" });
  equal(called(mock, "Quit"), 0, "quits");
});

test("quit: by the palette, with the keyboard alone, and the list follows", inWindow, async (page, mock) => {
  mock.world.leaving = under;
  await page.keyboard.press("Control+Shift+p");
  await page.keyboard.type("quit");
  await page.keyboard.press("Enter");
  await dialog(page, "Quit Loop").getByText("Ends now").waitFor();
  mock.world.leaving = { ...under, ends: [], waits: [] };
  await dialog(page, "Quit Loop").getByText("Nothing is lost.").waitFor();
  mock.world.leaving = { stays: false, ends: [], goes_on: [], waits: [] };
  await dialog(page, "Quit Loop").getByText("Nothing is under way any more.").waitFor();
  await until("Quit has the keyboard", async () => {
    await page.keyboard.press("Tab");
    return (await focused(page)) === "Quit";
  });
  await page.keyboard.press("Enter");
  await until("it quits", () => called(mock, "Quit") === 1);
});

test("quit: above what is open, which stays", { ...inWindow, reduced: false }, async (page, mock) => {
  mock.world.leaving = under;
  await page.getByRole("treeitem", { name: "infra" }).click();
  await page.keyboard.press("F2");
  await page.getByRole("textbox", { name: "Name" }).fill("platf");
  await page.keyboard.press("Control+q");
  await dialog(page, "Quit Loop").waitFor();
  const name = page.getByRole("textbox", { name: "Name", includeHidden: true });
  const { x, y } = await name.boundingBox();
  ok(await name.evaluate((el, [left, top]) => document.elementFromPoint(left + 2, top + 2) !== el, [x, y]), "what is below is covered");
  equal(await page.locator(".scrim").last().evaluate((el) => el.nextElementSibling === [...document.querySelectorAll("[role=dialog]")].at(-1)), true, "the dialog stands behind its scrim");
  await page.keyboard.press("Escape");
  await dialog(page, "Quit Loop").waitFor({ state: "detached" });
  equal(await name.inputValue(), "platf", "what was typed");
  await until("the field has the keyboard again", () => name.evaluate((el) => el === document.activeElement));
});

test("quit: in a terminal Ctrl+Q is the program's, Ctrl+Shift+Q asks", inWindow, async (page, mock) => {
  mock.world.leaving = under;
  await page.getByRole("treeitem", { name: "docs" }).click();
  await page.keyboard.press("Control+Shift+t");
  const s = await until("a terminal", () => mock.terminals.last());
  await until("it has the keyboard", () => page.evaluate(() => Boolean(document.activeElement?.closest(".term"))));
  await page.keyboard.press("Control+q");
  await until("the program has it", () => s.input.includes(0x11));
  equal(await page.getByRole("dialog").count(), 0, "dialogs");
  await page.keyboard.press("Control+Shift+q");
  await dialog(page, "Quit Loop").waitFor();
  await page.keyboard.press("Escape");
  await until("the terminal has the keyboard again", () => page.evaluate(() => Boolean(document.activeElement?.closest(".term"))));
});

test("quit: a page in a browser has none", async (page, mock) => {
  await page.keyboard.press("Control+q");
  await page.keyboard.press("Control+Shift+p");
  await page.keyboard.type("quit");
  await page.getByText("Nothing by that name.").waitFor();
  equal(called(mock, "Leaving") + called(mock, "Quit"), 0, "calls");
});

test("closing: the first time it is said, and Loop hears that it was", inWindow, async (page, mock) => {
  mock.world.leaving = under;
  const notice = dialog(page, "Loop goes on in the background");
  await ask(page, "close");
  await notice.getByText("2 runs, 2 programs in terminals, 1 recording, 1 build of the agent image and 1 waiting prompt").waitFor();
  await until("it is answered", () => called(mock, "Answered") > 0);
  await becomes(() => focused(page), "Close the window", "the keyboard");
  await page.keyboard.press("Escape");
  await notice.waitFor({ state: "detached" });
  equal(called(mock, "Hide"), 0, "hidden by Escape");
  await ask(page, "close");
  await page.getByRole("button", { name: "Close the window" }).waitFor();
  await page.keyboard.press("Enter");
  await until("it hides", () => called(mock, "Hide") === 1);
  await ask(page, "close");
  await page.getByRole("button", { name: "Quit…" }).click();
  await dialog(page, "Quit Loop").getByText("npm run dev").waitFor();
  equal(called(mock, "Quit"), 0, "quits");
});

test("axe: quit and closing", inWindow, async (page, mock) => {
  mock.world.leaving = under;
  await page.keyboard.press("Control+q");
  await dialog(page, "Quit Loop").getByText("Ends now").waitFor();
  await clean(page, "quit", { within: DIALOG });
  await page.keyboard.press("Escape");
  await ask(page, "close");
  await dialog(page, "Loop goes on in the background").getByText("2 runs").waitFor();
  await clean(page, "closing", { within: DIALOG });
});
