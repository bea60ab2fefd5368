// Cost and tokens of runs, and how full the context is.
import { equal, ok, test, until } from "./harness.mjs";

const box = (page) => page.getByRole("textbox", { name: "Prompt" });
const meter = (page) => page.getByRole("meter", { name: "Context" });
const today = (page) => page.getByText("today ");

test("costs: the end of a run, its table, the meter at the prompt and the day's sum", { speed: 20 }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await page.getByRole("img", { name: "Context known after the next answer" }).waitFor();
  equal(await meter(page).count(), 0, "meters before anything is known");
  equal(await today(page).innerText(), "today $0.18", "the day before");

  await box(page).fill("write a program");
  await page.keyboard.press("Enter");
  const facts = page.getByRole("button", { name: "context 44 % full" });
  await facts.waitFor();
  ok((await facts.innerText()).includes("7.4 k tokens in, 91 % from cache"), await facts.innerText());
  await page.locator(".gutter").getByText("$0.02", { exact: true }).waitFor();
  await until("the meter says the same", async () => (await meter(page).getAttribute("aria-valuenow")) === "44");
  equal(await today(page).innerText(), "today $0.20", "the day after one run");

  await page.keyboard.press("Escape");
  await facts.click();
  equal(await facts.getAttribute("aria-expanded"), "true", "the row is open");
  const row = page.getByRole("row", { name: "Sonnet 4.5" });
  equal(await row.getByRole("cell").allInnerTexts(), ["7,360", "6,771 (91 %)", "368", "184", "$0.02"], "cells");
  await page.getByText("Context: 88,000 of 200,000 tokens at the last message.").waitFor();
  await facts.click();
  await row.waitFor({ state: "detached" });

  // A stopped run reports no cost. Loop's estimate is marked, and so is the sum of the day.
  mock.play.pauseAt = "I'll write";
  await box(page).fill("another one");
  await page.keyboard.press("Enter");
  await until("it writes", () => mock.play.paused);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator(".gutter").getByText("< $0.01", { exact: true }).waitFor();
  equal(await today(page).innerText(), "today ≈ $0.21", "the day after an estimate");
  mock.play.paused = false;

  await page.reload();
  await page.getByRole("treeitem", { name: "docs" }).click();
  await until("the meter is there after a reload", async () => (await meter(page).getAttribute("aria-valuenow")) === "43");
  equal(await today(page).innerText(), "today ≈ $0.21", "the day after a reload");
});
