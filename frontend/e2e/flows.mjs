// Flows of a newcomer and of a daily user.
import { becomes, equal, frames, ok, SOAK, test, until } from "./harness.mjs";

const prompt = (page) => page.getByRole("textbox", { name: "Prompt" });

test("the key leaves the address bar and survives a reload", async (page, mock) => {
  equal(new URL(page.url()).hash, "", "hash");
  await page.reload();
  await page.getByRole("treeitem", { name: "api-server" }).waitFor();
  ok(!mock.log.some((c) => JSON.stringify(c.args).includes(mock.token)), "the key was sent as data");
});

test("first run: four checks, build with progress and cancel, then the demo to its end", { scenario: "fresh", speed: 6 }, async (page, mock) => {
  for (const name of ["Docker engine", "Agent image", "Gate", "Model access"]) await page.getByRole("heading", { name, exact: true }).waitFor();
  await page.getByText("Gate not probed yet.").waitFor();
  mock.play.buildHeld = true;
  await page.getByRole("button", { name: "Build it now" }).click();
  await page.getByRole("button", { name: "Cancel the build" }).click();
  await page.getByText("Not built yet").first().waitFor();
  mock.play.buildHeld = false;
  await page.getByRole("button", { name: "Build it now" }).last().click();
  await page.getByText("Ready", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Try the demo" }).click();
  await until("the sample prompt is in the box", async () => (await prompt(page).inputValue()) !== "");
  await until("the box has the keyboard, and the sample is selected", () => prompt(page).evaluate((el) => el === document.activeElement && el.selectionStart === 0 && el.selectionEnd === el.value.length));
  await page.keyboard.type("Count the words");
  equal(await prompt(page).inputValue(), "Count the words", "box after typing");
  await page.keyboard.press("Enter");
  await page.getByText("Done", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Write words.py" }).click();
  await page.getByText("import collections").waitFor();
  equal(await prompt(page).inputValue(), "", "box after sending");
  equal(mock.log.filter((c) => c.name === "Runs.Prompt").length, 1, "prompts");
});

test("a skeleton in the next frames after sending, before Loop answers", async (page, mock) => {
  mock.world.hold("Runs.Prompt");
  await page.getByRole("treeitem", { name: "docs" }).click();
  await page.getByText("Nothing here yet").waitFor();
  await prompt(page).fill("hello");
  // The test counts frames, because milliseconds depend on the machine.
  const n = await page.evaluate(async () => {
    document.querySelector("[data-prompt]").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    let seen = 0;
    for (; seen < 100 && !document.body.innerText.includes("Sending"); seen++) await new Promise(requestAnimationFrame);
    return seen;
  });
  ok(n <= 3, `skeleton after ${n} frames`);
});

test("streaming: the end stays in view, and stays away once left", { speed: 8 }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  mock.play.endless = true;
  mock.play.pauseAt = "Paragraph 6.";
  await prompt(page).fill("write an essay");
  await page.keyboard.press("Enter");
  const scroller = page.locator(".scroller");
  await page.getByText("Paragraph 6.").waitFor();
  await until("it follows", () => scroller.evaluate((el) => el.scrollHeight - el.scrollTop - el.clientHeight < 40));
  await page.mouse.move(700, 300);
  await page.mouse.wheel(0, -300);
  const jump = page.getByRole("button", { name: "jump to the newest" });
  await jump.waitFor();
  // The place of each visible paragraph, once the wheel has come to rest.
  const seen = () => scroller.evaluate((el) => [...el.querySelectorAll("article.text")].map((a) => [/Paragraph \d+\./.exec(a.textContent)?.[0], Math.round(a.getBoundingClientRect().top)]).filter(([, y]) => y > 60 && y < 500));
  let before = [];
  await until("it rests", async () => {
    const was = JSON.stringify(before);
    await frames(page, 10);
    before = await seen();
    return before.length > 0 && JSON.stringify(before) === was;
  });
  mock.play.paused = false;
  await until("more came", async () => Number(/^(\d+) new/.exec(await jump.innerText())?.[1] ?? 0) >= 4);
  equal(await seen(), before, "what is read moved");
  mock.play.paused = true; // the button counts new items; a click needs it to stand still
  await jump.click();
  mock.play.paused = false;
  await until("it follows again", () => scroller.evaluate((el) => el.scrollHeight - el.scrollTop - el.clientHeight < 40));
});

test("a reload in the middle of a sentence loses nothing", { speed: 2 }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  mock.play.pauseAt = "count";
  await prompt(page).fill("go on");
  await page.keyboard.press("Enter");
  await page.getByText("count", { exact: false }).first().waitFor();
  await page.reload();
  await prompt(page).waitFor();
  mock.play.paused = false;
  await page.getByText("Done", { exact: true }).waitFor();
  const whole = async () => (await page.locator("article.text, article.thinking").allInnerTexts()).filter((t) => t.includes("then run it.")).length;
  await becomes(whole, 1, "the sentence is there once and whole");
  await becomes(() => page.locator("article.tool").count(), mock.world.events.get(mock.channel("docs & <b>notes</b>").channel_id).filter((e) => e.type === "tool.use").length, "tool rows");
});

test("queue while running, edit, remove, stop", { speed: 10 }, async (page) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  for (const text of ["hang", "second one", "third one"]) {
    await prompt(page).fill(text);
    await page.keyboard.press("Enter");
  }
  const queue = page.getByRole("list", { name: "Waiting prompts" });
  await queue.getByText("third one").waitFor();
  await queue.getByRole("listitem").filter({ hasText: "second one" }).getByRole("button", { name: "Remove" }).click();
  await queue.getByText("second one").waitFor({ state: "detached" });
  await queue.getByRole("listitem").filter({ hasText: "third one" }).getByRole("button", { name: "Edit" }).click();
  await until("the text is in the editor", async () => (await page.getByRole("textbox", { name: "Edit the waiting prompt" }).inputValue()) === "third one");
  await page.keyboard.press("Escape");
  await queue.getByText("third one").waitFor();
  await page.keyboard.press("Control+.");
  await page.getByText("Stopped").waitFor();
});

test("drafts are kept per channel and across a reload", { loop: {} }, async (page) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  await prompt(page).fill("half a thought");
  await page.getByRole("treeitem", { name: "infra" }).click();
  await becomes(() => prompt(page).inputValue(), "", "other channel");
  await page.getByRole("treeitem", { name: "docs" }).click();
  await becomes(() => prompt(page).inputValue(), "half a thought", "back");
  await page.reload();
  await becomes(() => prompt(page).inputValue(), "half a thought", "after a reload");
});

test("hostile text neither loads, links, runs nor hides", async (page) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.getByText("Image not loaded:").waitFor();
  equal(await page.locator(".panel img").count(), 0, "images");
  await becomes(() => page.locator(".panel a").evaluateAll((all) => all.map((a) => new URL(a.href).protocol)), ["https:", "https:"], "links");
  await until("the override is shown", async () => (await page.locator(".hidden-char").allInnerTexts()).includes("RLO"));
});

test("thousands of items: few nodes, older pages on scrolling up, nothing moves by a pixel", { scenario: "long", long: true }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "monorepo" }).click();
  await page.getByText("Task 700:").waitFor();
  ok((await page.locator("article").count()) < 80, "virtualised");
  const asked = () => mock.log.filter((c) => c.name === "Channels.Timeline").length;
  for (let i = 0; i < (SOAK ? 10 : 1); i++) {
    const before = asked();
    const answer = mock.world.hold("Channels.Timeline");
    // So near to the top, the list asks for more. A page that was just opened may still go to its end: then again.
    await until("it is read far from the end", () => page.evaluate(async () => {
      const el = document.querySelector(".scroller");
      el.scrollTop = 300;
      for (let k = 0; k < 3; k++) await new Promise((r) => requestAnimationFrame(r));
      return el.scrollTop === 300 && el.dataset.following === "false";
    }));
    await until("an older page is asked for", () => asked() > before);
    await frames(page, 10);
    await page.evaluate(() => {
      const el = document.querySelector(".scroller");
      const first = [...document.querySelectorAll("article.prompt p")].find((x) => x.getBoundingClientRect().top > 100);
      const [text, y, height] = [first.textContent, first.getBoundingClientRect().top, el.scrollHeight];
      const seen = (window.seen = { grew: 0, worst: 0, looks: 0, over: false });
      const look = async () => {
        while (!seen.over) {
          // Only what was painted counts, so the place is read after each paint.
          await new Promise((r) => requestAnimationFrame(() => {
            const c = new MessageChannel();
            c.port1.addEventListener("message", r);
            c.port1.start();
            c.port2.postMessage(0);
          }));
          const now = [...document.querySelectorAll("article.prompt p")].find((x) => x.textContent === text);
          seen.worst = Math.max(seen.worst, now ? Math.abs(now.getBoundingClientRect().top - y) : Infinity);
          seen.grew = el.scrollHeight - height;
          if (seen.grew > 2000) seen.looks++;
        }
      };
      void look();
    });
    answer();
    await until(`an older page came (${i})`, () => page.evaluate(() => window.seen.looks > 40));
    const worst = await page.evaluate(() => ((window.seen.over = true), window.seen.worst));
    ok(worst <= 1, `what is read moved by ${worst} (${i})`);
  }
});

test("an item that cannot be drawn does not take the page with it", { quietErrors: true }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "docs" }).click();
  const ch = mock.channel("docs & <b>notes</b>").channel_id;
  mock.world.emit("message.created", ch, "r", { msg_id: "m", content: { not: "text" }, is_bot: true });
  mock.world.emit("tool.use", ch, "r", { tool_use_id: 7, tool_name: { a: 1 }, input: "x" });
  mock.world.emit("tool.result", ch, "r", { tool_use_id: 7, output: null, files: "many" });
  mock.world.emit("run.notice", ch, "r", { level: "info", text: "still here" });
  await page.getByText("still here").waitFor();
  await page.getByRole("textbox", { name: "Prompt" }).fill("works");
});

test("settings: key, theme, contrast", { scenario: "fresh" }, async (page, mock) => {
  await page.getByRole("button", { name: "Add key" }).click();
  await page.getByLabel("API key", { exact: true }).last().fill("sk-ant-api03-secret");
  await page.keyboard.press("Enter");
  await page.getByText("It works.").waitFor();
  equal(mock.log.find((c) => c.name === "System.SaveCredential").args, ["anthropic_api_key", "sk-ant-api03-secret", false]);
  await page.getByRole("tab", { name: "Look" }).click();
  await page.getByText("Light", { exact: true }).click();
  await until("light", () => page.evaluate(() => document.documentElement.dataset.theme === "light"));
  await page.getByText("More contrast").click();
  await until("contrast", () => page.evaluate(() => document.documentElement.dataset.contrast === "more"));
  ok(!(await page.content()).includes("sk-ant-api03-secret"), "the key stays in the page");
  // After an edit of the settings file the page and its terminals follow at once.
  const term = (name) => page.evaluate((n) => getComputedStyle(document.documentElement).getPropertyValue(n).trim(), name);
  const edited = (theme, colors) => {
    Object.assign(mock.world.config, { theme, terminal: { ...mock.world.config.terminal, colors } });
    mock.world.emit("config.changed", "", "", mock.world.config);
  };
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  edited("dark", ["dark.background=#002b36", "light.background=#fdf6e3", "red=#dc322f"]);
  await until("dark", () => page.evaluate(() => document.documentElement.dataset.theme === "dark"));
  await until("a background of one's own", async () => (await term("--term-bg")) === "#002b36" && (await term("--ansi-1")) === "#dc322f");
  edited("light", ["dark.background=#002b36", "light.background=#fdf6e3"]);
  await until("the other one", async () => (await term("--term-bg")) === "#fdf6e3" && (await term("--ansi-1")) !== "#dc322f");
  const px = (s) => page.locator(s).first().evaluate((el) => parseFloat(getComputedStyle(el).fontSize));
  const was = await px(".row-name");
  mock.world.config.text = { sidebar: 18, chat: 13, editor: 13, panels: 12 };
  edited("light", null);
  await becomes(() => px(".row-name"), was * 1.5, "the sidebar's text");
  await until("Loop's own again", async () => (await term("--term-bg")) !== "#fdf6e3");
});

test("rename and remove a channel", { loop: {} }, async (page) => {
  await page.getByRole("treeitem", { name: "infra" }).click();
  await page.keyboard.press("F2");
  await page.getByRole("textbox", { name: "Name" }).fill("platform");
  await page.keyboard.press("Enter");
  await page.getByRole("treeitem", { name: "platform" }).click();
  await page.keyboard.press("Delete");
  await becomes(() => page.evaluate(() => document.activeElement.textContent), "Keep it", "focus is on the safe answer");
  await page.getByRole("button", { name: "Remove channel" }).click();
  await page.getByRole("treeitem", { name: "platform" }).waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
});
