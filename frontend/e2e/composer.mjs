// The prompt box: commands, what one prompt is sent with, and the search through earlier prompts.
import { clean, CONTRAST, MENU } from "./clean.mjs";
import { fail } from "./mock/world.mjs";
import { equal, ok, test, until } from "./harness.mjs";

const prompt = (page) => page.getByRole("textbox", { name: "Prompt", exact: true });
const becomes = (page, text) => until(`the prompt is ${JSON.stringify(text)}`, async () => (await prompt(page).inputValue()) === text);
const focused = (page) => until("the prompt box has the keyboard", () => prompt(page).evaluate((el) => el === document.activeElement));
const sent = (mock) => mock.log.filter((c) => c.name === "Runs.Prompt").map((c) => c.args[0]);
const asked = (mock, n) => until(`${n} prompts were sent`, () => sent(mock).length === n);
const go = async (page, name = "api-server") => {
  await page.getByRole("treeitem", { name }).click();
  await prompt(page).click();
};

test("composer: / offers commands in groups, and Enter on one that is written out sends it", async (page, mock) => {
  await go(page);
  await page.keyboard.type("/");
  const list = page.getByRole("listbox", { name: "Commands" });
  await list.waitFor();
  equal(await list.getByRole("group").evaluateAll((all) => all.map((g) => g.getAttribute("aria-label"))), ["Claude Code", "This project", "Yours"], "groups");
  equal(await list.getByRole("option").count(), 6, "commands");
  await clean(page, "the list of commands", { looks: CONTRAST });
  await page.locator(".command-says .hidden-char").first().waitFor(); // a description hides no character
  await page.keyboard.type("mig");
  equal(await list.getByRole("option").first().getAttribute("id"), await prompt(page).getAttribute("aria-activedescendant"), "active option");
  await page.keyboard.press("Enter");
  await becomes(page, "/migration ");
  await list.waitFor({ state: "detached" });
  await page.keyboard.type("users");
  await page.keyboard.press("Enter");
  await asked(mock, 1);
  await page.keyboard.type("/init");
  await list.waitFor();
  await page.keyboard.press("Enter");
  await asked(mock, 2);
  equal(sent(mock).map((p) => p.prompt), ["/migration users", "/init"], "prompts");
});

test("composer: / says when nothing fits, Esc keeps the text, and a failure is said", { quietErrors: true }, async (page, mock) => {
  await go(page);
  await page.keyboard.type("/zzz");
  await page.getByText("No command matches.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("No command matches.").waitFor({ state: "detached" });
  await becomes(page, "/zzz");
  await prompt(page).fill("");
  mock.world.failNext.set("Files.Commands", fail("dir", "The folder is gone.", "Put it back.").failure);
  await page.keyboard.type("/");
  await page.getByText("The folder is gone. Put it back.").waitFor();
});

test("composer: Enter waits for the first list of commands, and sends one that is written out", async (page, mock) => {
  await go(page);
  let release = mock.world.hold("Files.Commands");
  await page.keyboard.type("/mig");
  await page.getByText("Looking for commands").waitFor();
  await page.keyboard.press("Enter");
  release();
  await becomes(page, "/migration ");
  equal(sent(mock).length, 0, "prompts");
  await prompt(page).fill("");
  await page.reload();
  await go(page);
  release = mock.world.hold("Files.Commands");
  await page.keyboard.type("/init");
  await page.getByText("Looking for commands").waitFor();
  await page.keyboard.press("Enter");
  equal(sent(mock).length, 0, "prompts");
  release();
  await asked(mock, 1);
  equal(sent(mock)[0].prompt, "/init", "prompt");
});

test("composer: a model and an effort for one prompt, by keys, are gone after it", async (page, mock) => {
  await go(page);
  await page.keyboard.type("hard");
  await page.keyboard.press("Alt+p");
  await page.getByRole("menuitemradio", { name: /Opus/ }).waitFor();
  await clean(page, "the menu of models", { within: MENU, looks: CONTRAST });
  await page.getByRole("menuitemradio", { name: /Opus/ }).click();
  await focused(page);
  await page.getByRole("button", { name: "Model: Opus, for this prompt" }).waitFor();
  await page.keyboard.press("Alt+e");
  await page.getByRole("menuitemradio", { name: "Effort max" }).click();
  await focused(page);
  await clean(page, "chips of one prompt", { looks: CONTRAST });
  await page.reload(); // a wish stays with its text
  await page.getByRole("button", { name: "Effort: Effort max, for this prompt" }).waitFor();
  await prompt(page).press("Enter");
  await asked(mock, 1);
  const { model, effort } = sent(mock)[0];
  equal([model, effort], ["opus", "max"], "sent with");
  await page.getByText("with Opus, effort max").waitFor();
  await prompt(page).fill("easy");
  await prompt(page).press("Enter");
  await asked(mock, 2);
  ok(!("model" in sent(mock)[1]) && !("effort" in sent(mock)[1]), "the next prompt has the model of the one before");
});

test("composer: a model for the channel, and one by its name", async (page, mock) => {
  await go(page);
  await page.keyboard.press("Alt+p");
  await page.getByRole("menuitemradio", { name: "For the channel, from now on" }).click();
  await page.getByRole("menuitemradio", { name: /Haiku/ }).click();
  await page.getByRole("button", { name: "Model: Haiku", exact: true }).waitFor();
  equal(mock.log.findLast((c) => c.name === "Channels.Choose").args[1], { model: "haiku" }, "chosen");
  await focused(page);
  await page.keyboard.press("Alt+p");
  await page.getByRole("menuitem", { name: "Another model…" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("my model");
  ok(await page.getByRole("button", { name: "Choose" }).isDisabled(), "a name of two words can be chosen");
  await page.getByRole("textbox", { name: "Name" }).fill("claude-opus-9-1");
  await clean(page, "the name of a model");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Model: Opus 9.1, for this prompt" }).waitFor();
});

test("composer: plan first and a new conversation are chips that can be taken away", async (page, mock) => {
  await go(page);
  await page.keyboard.press("Alt+m");
  await page.getByText("Plan first, read-only", { exact: true }).waitFor();
  await page.keyboard.press("Alt+n");
  await page.locator(".chips-set").getByText("New conversation").waitFor();
  await clean(page, "chips that can be taken away", { looks: CONTRAST });
  await page.getByRole("button", { name: "Don't plan first" }).click();
  await focused(page);
  await page.getByRole("button", { name: "Go on with the conversation" }).click();
  equal(await page.locator(".chips-set").count(), 0, "chips");
  await page.getByRole("button", { name: "New conversation" }).click();
  await focused(page);
  await page.keyboard.type("anew");
  await page.keyboard.press("Alt+m");
  await page.keyboard.press("Enter");
  await asked(mock, 1);
  const { plan, session } = sent(mock)[0];
  equal([plan, session], [true, { mode: "fresh" }], "sent with");
  equal(await page.locator(".chips-set").count(), 0, "chips of the next prompt");
});

test("composer: what the channel keeps for its next run can be taken away", async (page, mock) => {
  await go(page);
  const ch = [...mock.world.channels.values()].find((c) => c.name === "api-server");
  ch.next_session = { mode: "fork" };
  mock.world.emit("channel.updated", ch.channel_id, "", ch);
  await page.getByText("Copy of the conversation").waitFor();
  await page.getByRole("button", { name: "Go on with the channel's conversation" }).click();
  await page.getByText("Copy of the conversation").waitFor({ state: "detached" });
  equal(mock.log.findLast((c) => c.name === "Channels.SetSession").args[1], {}, "the start");
});

test("composer: Ctrl+R finds an earlier prompt, the arrows go on from it, and the text comes back", async (page, mock) => {
  await go(page, "docs");
  for (const [i, text] of ["one login", "two", "three LOGIN"].entries()) {
    await page.keyboard.type(text);
    await page.keyboard.press("Enter");
    await asked(mock, i + 1);
  }
  await until("the prompts are in the timeline", async () => (await page.locator(".item.prompt").count()) === 3);
  await page.keyboard.type("a draft");
  await page.keyboard.press("Control+r");
  const field = page.getByRole("combobox", { name: "Search earlier prompts" });
  await field.waitFor();
  await page.getByRole("option", { name: "three LOGIN" }).waitFor();
  await clean(page, "the search through earlier prompts", { looks: CONTRAST });
  await page.keyboard.type("login");
  await until("two prompts are found", async () => (await page.getByRole("option").count()) === 2);
  await page.keyboard.press("Control+r"); // the next one
  await page.keyboard.press("Enter");
  await becomes(page, "one login");
  await focused(page);
  await page.keyboard.press("ArrowDown");
  await becomes(page, "a draft");
  await page.keyboard.press("Control+r");
  await page.keyboard.type("nowhere");
  await page.getByText("No earlier prompt has that in it.").waitFor();
  await page.keyboard.press("Escape");
  await field.waitFor({ state: "detached" });
  await becomes(page, "a draft");
  await focused(page);
  await prompt(page).fill("");
  await page.keyboard.press("ArrowUp"); // an empty box recalls
  await becomes(page, "three LOGIN");
});

test("composer: the arrows go through the rows of a long draft before they recall a prompt, and never with Ctrl", async (page, mock) => {
  await go(page, "docs");
  await page.keyboard.type("earlier");
  await page.keyboard.press("Enter");
  await asked(mock, 1);
  const long = "a paragraph that goes over several rows because it is much longer than the box is wide ".repeat(4).trim();
  await page.keyboard.type(long);
  const at = () => prompt(page).evaluate((el) => el.selectionStart);
  await page.keyboard.press("ArrowUp");
  await until("the caret is a row higher", async () => (await at()) < long.length);
  await page.keyboard.press("Control+ArrowUp");
  equal(await prompt(page).inputValue(), long, "the draft");
  await until("the first row", async () => {
    await page.keyboard.press("ArrowUp");
    return (await at()) === 0;
  });
  await until("the earlier prompt", async () => {
    await page.keyboard.press("ArrowUp");
    return (await prompt(page).inputValue()) === "earlier";
  });
  await page.keyboard.press("ArrowDown");
  await becomes(page, long);
});

test("composer: mentions are tinted in their places, lines are added, recent files come first", async (page) => {
  await go(page);
  await page.keyboard.type("see @cmd/main.go:4-6");
  await page.getByRole("option", { name: /main\.go/ }).waitFor();
  await page.keyboard.press("Enter");
  await becomes(page, "see @cmd/main.go#L4-6 ");
  await page.keyboard.type("and a long line so that the text wraps more than once in a box of this width, because only then do the places count, ".repeat(3));
  const [same, marks] = await page.evaluate(() => {
    const [box, mirror] = [document.querySelector("[data-prompt]"), document.querySelector(".prompt-mirror")];
    const of = (el) => { const s = getComputedStyle(el); return [el.clientWidth, s.font, s.padding, s.letterSpacing, s.whiteSpace, s.overflowWrap, el.scrollHeight, el.scrollTop].join(); };
    return [of(box) === of(mirror) ? "" : `${of(box)} is not ${of(mirror)}`, [...mirror.querySelectorAll("mark")].map((m) => m.textContent)];
  });
  equal([same, marks], ["", ["@cmd/main.go#L4-6"]], "the mirror");
  await clean(page, "a tinted mention", { looks: CONTRAST });
  await prompt(page).press("Enter");
  await page.locator(".item.prompt").getByText("#L4-6").waitFor();
  await page.keyboard.type("@ma");
  // The run of that prompt may have changed the file meanwhile, which is then the reason.
  const first = page.getByRole("group", { name: "Recent" }).getByRole("option", { name: /main\.go/ }).first();
  await first.getByText(/named in an earlier prompt|changed by the last run/).waitFor();
});

test("composer: at 320 px one chip is left, and nothing is wider than the box", async (page) => {
  await go(page);
  await page.setViewportSize({ width: 320, height: 700 });
  const shown = () => page.locator(".prompt-chips > .chip:visible").count();
  await until("one chip", async () => (await shown()) === 1);
  await prompt(page).press("Alt+m");
  await page.getByText("Plan first, read-only", { exact: true }).waitFor();
  equal(await shown(), 1, "chips");
  ok(await page.locator(".prompt-box").evaluate((el) => el.scrollWidth <= el.clientWidth), "the box is wider than its place");
});
