// The files of the container in their panel.
import { clean, CONTRAST } from "./clean.mjs";
import { becomes, equal, ok, test, until } from "./harness.mjs";

const panel = (page) => page.getByRole("region", { name: "Files of the container" });
const tree = (page) => panel(page).getByRole("tree", { name: "Files" });
const names = (page) => tree(page).getByRole("treeitem").evaluateAll((all) => all.map((el) => `${"  ".repeat(el.ariaLevel - 1)}${el.querySelector(".ellipsis").textContent}`));
const chosen = (page) => tree(page).locator("[aria-selected=true]").locator(".ellipsis").textContent();

async function open(page, name = "api-server") {
  await page.getByRole("treeitem", { name }).click();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.insertText("files of the container");
  await page.keyboard.press("Enter");
  await tree(page).waitFor();
  await until("the tree has the keyboard by itself", () => page.evaluate(() => document.activeElement?.matches(".files-tree")));
}

test("files: walked by the keyboard, folders first, with a look into each file", { size: [1500, 900], quietErrors: true }, async (page, mock) => {
  await open(page);
  await tree(page).getByText("README.md").waitFor();
  equal((await names(page)).slice(0, 6), [".loop, folder", "cmd, folder", "docs, folder", "empty, folder", "latest → cmd, a link", "logo.png"]);
  ok((await names(page)).some((n) => n.includes("RLO")), "a character that hides is named");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await tree(page).getByText("main.go").waitFor();
  await page.keyboard.press("ArrowRight");
  await becomes(() => chosen(page), "main.go");
  const preview = panel(page).getByRole("group", { name: "Content of main.go" });
  await preview.getByText("ListenAndServe").waitFor();
  await until("it has colours", () => preview.evaluate((el) => el.querySelectorAll("li span[style]").length > 10));
  await clean(page, "the files", { looks: CONTRAST });
  await page.keyboard.press("Enter");
  await until("the content has the keyboard", () => page.evaluate(() => document.activeElement?.matches(".files-text")));
  await page.keyboard.press("Escape");
  await until("the tree has it back", () => page.evaluate(() => document.activeElement?.matches(".files-tree")));
  await page.keyboard.press("ArrowLeft");
  await becomes(() => chosen(page), "cmd, folder");
  await page.keyboard.press("ArrowLeft");
  await tree(page).getByText("main.go").waitFor({ state: "detached" });

  // Typing finds a name; a picture is shown, and what is no file says so.
  await page.keyboard.insertText("logo");
  await page.keyboard.type("lo");
  await becomes(() => chosen(page), "logo.png");
  await panel(page).getByText("2 × 2").waitFor();
  await tree(page).getByText("pipe").click();
  await panel(page).getByText("is no ordinary file").waitFor();
  await panel(page).getByRole("button", { name: "Try again" }).waitFor();

  // The filter looks into the open folders.
  await tree(page).focus();
  await page.keyboard.press("/");
  await page.keyboard.insertText("server");
  await becomes(() => names(page), ["server9.go", "server10.go"]);
  await page.keyboard.insertText("zzz");
  await panel(page).getByRole("button", { name: "Show all" }).click();
  await tree(page).getByText("README.md").click();
  await panel(page).getByText("Serves **requests**.").waitFor();
  await panel(page).getByRole("button", { name: "Ask about this" }).click();
  await becomes(() => page.getByRole("textbox", { name: /prompt/i }).first().inputValue(), "@/home/ana/src/api-server/README.md ");
  ok(mock.files.reads.length < 12, "walking reads what it stops at");
});

test("files: a folder by its path, the one above, and what cannot be read", { size: [1500, 900], quietErrors: true }, async (page, mock) => {
  await open(page);
  const field = panel(page).getByRole("textbox", { name: "Folder" });
  await becomes(() => field.inputValue(), "/home/ana/src/api-server");
  await tree(page).focus();
  await page.keyboard.press("Backspace");
  await becomes(() => field.inputValue(), "/home/ana/src");
  await field.fill("/etc");
  await page.keyboard.press("Enter");
  await tree(page).getByText("os-release").click();
  await panel(page).getByText("In the container alone.").waitFor();
  await field.fill("/nowhere");
  await page.keyboard.press("Enter");
  await panel(page).getByText("“/nowhere” is not there.").waitFor();
  await clean(page, "a folder that is not there");
  await panel(page).getByRole("button", { name: "To the agents’ folder" }).click();
  await tree(page).getByText("README.md").waitFor();
  await tree(page).getByText("empty").click();
  await tree(page).getByText("Nothing is in this folder.").waitFor();

  // What an agent changed comes by itself.
  mock.files.tree["home/ana/src/api-server"].push("fresh.txt");
  mock.files.tree["home/ana/src/api-server/fresh.txt"] = "new\n";
  mock.world.emit("tool.result", mock.channel("api-server").channel_id, "", { tool_use_id: "x" });
  await tree(page).getByText("fresh.txt").waitFor();
});

test("files: in a narrow panel the file stands in front of the list", { size: [1400, 800] }, async (page) => {
  await open(page);
  await page.setViewportSize({ width: 400, height: 800 });
  await tree(page).getByText("README.md").click();
  await panel(page).getByText("Serves **requests**.").waitFor();
  ok(await tree(page).isHidden(), "the list is behind it");
  await panel(page).getByRole("button", { name: "Back to the list" }).click();
  await tree(page).getByText("README.md").waitFor();
});

const edits = (mock) => mock.log.filter((c) => c.name === "Files.Edit").map((c) => c.args.slice(1));

test("links: a file opens in the person’s editor, from its panel, an item, a terminal", { size: [1500, 900], quietErrors: true }, async (page, mock) => {
  await open(page);
  await tree(page).getByText("Makefile").click();
  await panel(page).getByText("go test ./...").waitFor();
  await panel(page).getByRole("button", { name: /^Open in editor/ }).click();
  await page.getByText("Opened in code.").waitFor();
  equal(edits(mock).at(-1), ["/home/ana/src/api-server/Makefile", 0, 0]);
  await panel(page).locator(".files-no").nth(1).click();
  await panel(page).locator(".files-text").focus();
  await page.keyboard.press("e");
  await until("at the chosen line", () => edits(mock).at(-1)[1] === 2);
  await clean(page, "a file with its editor", { looks: CONTRAST });
  // What the container alone has says so.
  await panel(page).getByRole("textbox", { name: "Folder" }).fill("/etc");
  await page.keyboard.press("Enter");
  await tree(page).getByText("os-release").click();
  await panel(page).getByText("In the container alone.").waitFor();
  equal(await panel(page).getByRole("button", { name: /^Open in editor/ }).count(), 0);
  // It comes back after a reload, with its file.
  await until("Loop keeps the panel", () => Object.values(mock.world.memory).some((v) => v.includes("/etc/os-release")));
  await page.reload();
  await panel(page).getByText("PRETTY_NAME").waitFor();
  delete mock.files.tree["etc/os-release"];
  await panel(page).getByRole("button", { name: "Read again" }).click();
  await panel(page).getByText("is not there.").waitFor();
});

test("links: output of a terminal leads to the files at a line, and with Alt to the editor", { size: [1500, 900], quietErrors: true }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.keyboard.press("Control+Shift+T");
  await page.locator(".xterm-rows").waitFor();
  await until("its session", () => mock.terminals.sessions.size === 1);
  await page.locator(".xterm-rows > div", { hasText: "$" }).waitFor(); // what is printed before is in its first picture
  await mock.terminals.last().write("\x1b]7;file://box/home/ana/src/api-server/cmd\x07\r\nmain.go:9:2: wrong\r\n\x1b]8;;file://box/home/ana/src/api-server/Makefile#L2\x07the rules\x1b]8;;\x07\r\n");
  const at = async (text) => {
    const row = page.locator(".xterm-rows > div", { hasText: text });
    await row.waitFor();
    const b = await row.boundingBox();
    return [b.x + 30, b.y + b.height / 2];
  };
  const click = async (text, ...keys) => {
    await page.mouse.move(...(await at(text)));
    await page.getByText("Ctrl click shows it").waitFor();
    for (const k of keys) await page.keyboard.down(k);
    await page.mouse.click(...(await at(text)));
    for (const k of keys.toReversed()) await page.keyboard.up(k);
  };
  await click("main.go:9", "Control", "Alt");
  await until("the editor has it", () => edits(mock).length === 1);
  equal(edits(mock), [["/home/ana/src/api-server/cmd/main.go", 9, 2]]);
  mock.files.editor = "nvim";
  await click("the rules", "Control", "Alt");
  await until("a terminal of this computer", () => mock.terminals.sessions.size === 2);
  const made = mock.terminals.last().spec;
  equal([made.target, made.cmd, made.dir], ["host", ["/usr/bin/nvim", "/home/ana/src/api-server/Makefile"], "/home/ana"]);
  await page.getByRole("tab").filter({ hasNotText: "Makefile" }).nth(1).click();
  await click("main.go:9", "Control");
  await panel(page).getByRole("group", { name: "Content of main.go" }).waitFor();
  await until("its line is marked", async () => (await panel(page).locator("[aria-current=location]").count()) === 1);
});

test("files: a place in a file that is shown already is shown in the file as it is now", { size: [1500, 900] }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  const { channel_id: id } = mock.channel("api-server");
  mock.world.emit("message.created", id, "r-again", { msg_id: "m-again", content: "See cmd/main.go:3.", is_bot: true });
  const link = page.getByRole("button", { name: "cmd/main.go:3", exact: true });
  await link.click();
  const line = panel(page).locator("[aria-current=location]");
  await line.waitFor();
  const place = Object.keys(mock.files.tree).find((k) => k.endsWith("api-server/cmd/main.go"));
  mock.files.tree[place] = "one\ntwo\nas it is now\n";
  await link.click();
  await line.getByText("as it is now").waitFor();
});
