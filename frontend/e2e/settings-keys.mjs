// Flows of the keys of models: tried when they are saved, and the sign-in to a subscription.
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { clean, CONTRAST, DIALOG } from "./clean.mjs";
import { becomes, equal, ok, test, until } from "./harness.mjs";
import { focused, settings } from "./settings-steps.mjs";

const KEY = "{\n  \"anthropic_api_key\": \"sk-ant-api03-secret\"\n}\n";
test("keys: where they are kept, moved and removed", { loop: { config: KEY } }, async (page, loop) => {
  await settings(page);
  await page.getByText("in config.json").first().waitFor();
  await page.getByRole("button", { name: "Move out of config.json" }).click();
  await page.getByText("in an encrypted file of Loop's folder").waitFor();
  ok(!(await loop.text("global")).includes("sk-ant"), "the key is still in config.json");
  await page.getByRole("button", { name: "Remove the API key" }).click();
  await until("removed", async () => (await loop.call("System.Credentials")).every((k) => !k.set));
});

test("keys: tried when they are saved: refused, kept anyway, stopped, out of reach, good", { scenario: "fresh" }, async (page, mock) => {
  await settings(page);
  await focused(page, "#credential");
  const box = page.locator("#credential");
  mock.settings.answer = "refused";
  await page.keyboard.type("sk-ant-api03-wrong");
  await page.keyboard.press("Enter");
  await page.getByText("It does not work.").waitFor();
  await page.getByText("The key is not saved.").waitFor();
  equal([await box.inputValue(), mock.settings.keys], ["sk-ant-api03-wrong", {}], "a refused key");
  await page.getByRole("searchbox").fill("memory"); // what is typed outlives the part, and the dialog
  await page.getByRole("textbox", { name: "Memory limit" }).waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await settings(page);
  await becomes(() => box.inputValue(), "sk-ant-api03-wrong", "a key that was not saved");
  await focused(page, "#credential");
  await page.keyboard.press("Enter");
  await page.getByText("The key is not saved.").waitFor();
  await clean(page, "a refused key", { within: DIALOG, looks: CONTRAST });
  await page.getByRole("button", { name: "Keep it anyway" }).click();
  await becomes(() => box.inputValue(), "", "the field");
  equal(mock.log.findLast((c) => c.name === "System.SaveCredential").args, ["anthropic_api_key", "sk-ant-api03-wrong", true], "kept anyway");
  mock.settings.answer = "waits";
  await box.fill("sk-ant-api03-slow");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByText("The trial was stopped.").waitFor();
  equal(await box.inputValue(), "sk-ant-api03-slow", "a stopped trial");
  await focused(page, "#credential");
  mock.settings.answer = "unreached";
  await page.keyboard.press("Enter");
  await page.getByText("could not be reached, so the key was not tried.").first().waitFor();
  await becomes(() => box.inputValue(), "", "saved with a warning");
  mock.settings.answer = "accepted";
  await page.getByRole("button", { name: "Try again: API key" }).click();
  await page.getByText("It works.").waitFor();
  ok(!(await page.content()).includes("sk-ant-api03-slow"), "the key stays in the page");
  await clean(page, "a good key", { within: DIALOG, looks: CONTRAST });
});

test("sign-in: each step, a code, a failure, cancelled", { scenario: "fresh" }, async (page, mock) => {
  await settings(page);
  await page.getByText("Claude Code token", { exact: true }).click();
  await page.getByRole("button", { name: "Sign in with Claude" }).click();
  const box = page.getByRole("region", { name: "Sign in with Claude" });
  const step = (name) => box.locator("[aria-current=step]", { hasText: name }).waitFor();
  await step("Claude Code starts");
  const url = "https://claude.ai/oauth/authorize?code=true&state=x";
  mock.settings.signsIn({ step: "browser", asks: true, url });
  await step("You sign in on Claude's page");
  await clean(page, "sign-in", { within: DIALOG, looks: CONTRAST });
  await page.evaluate(() => { window.open = (to) => { window.opened = to; return window; }; });
  await page.getByRole("button", { name: "Open the page" }).click();
  await becomes(() => page.evaluate(() => window.opened), url, "the page");
  await page.keyboard.press("Escape"); // it goes on without the dialog
  await settings(page);
  await page.getByText("Claude Code token", { exact: true }).click();
  await step("You sign in on Claude's page");
  await page.getByRole("textbox", { name: "If the page shows a code" }).fill("abc#def ");
  await page.keyboard.press("Enter");
  await step("Claude Code gets the token");
  equal(mock.log.findLast((c) => c.name === "System.GiveSignInCode").args, ["abc#def"], "the code");
  mock.settings.signsIn({ step: "failed", asks: false, failure: { code: "credentials", cause: "The sign-in failed: Invalid code.", remedy: "Begin again, and copy the whole code." } });
  await box.getByText("The sign-in failed: Invalid code.").waitFor();
  await clean(page, "a failed sign-in", { within: DIALOG, looks: CONTRAST });
  await box.getByRole("button", { name: "Begin again" }).click();
  await step("Claude Code starts");
  await box.getByRole("button", { name: "Cancel the sign-in" }).click();
  await page.getByRole("button", { name: "Sign in with Claude" }).waitFor();
  await until("the button has the keyboard", () => page.evaluate(() => document.activeElement.textContent === "Sign in with Claude"));
  await page.keyboard.press("Enter");
  await step("Claude Code starts");
  mock.settings.signsIn({ step: "trying", asks: false });
  await step("The token is tried and kept");
  mock.settings.signsIn({ step: "done", asks: false, trial: { state: "accepted", host: "api.anthropic.com", cause: "api.anthropic.com accepted the token.", at: Date.now(), took_ms: 400 } });
  await box.getByText("api.anthropic.com accepted the token.").waitFor();
  await box.getByRole("button", { name: "Close" }).click();
});

// What the real program prints, as far as Loop reads it.
const PRETEND = `#!/bin/sh
[ "$1" = setup-token ] || exit 3
printf '\\033[1mThis\\033[7Gwill guide you\\033[22m\\r\\nOpening browser to sign in\\r\\n\\r\\n'
printf 'https://claude.ai/oauth/authorize?state=flow\\r\\n\\r\\nPaste\\033[8Gcode\\033[13Ghere if prompted\\r\\n> '
read -r code
if [ "$code" = good#code ]; then printf '\\r\\nYour OAuth token (valid for 1 year):\\r\\n\\r\\nsk-ant-oat01-flow-0123456789abcdefghij\\r\\n'
else printf '\\r\\n OAuth error: Invalid code\\r\\n'; sleep 60; fi
`;

test("sign-in: a real Loop with a pretend “claude setup-token”", { loop: { config: "{}\n" }, quietErrors: true }, async (page, loop) => {
  const program = `${loop.root}/claude`;
  await writeFile(program, PRETEND, { mode: 0o755 });
  const model = await scripted();
  await loop.write("global", JSON.stringify({ claude_bin_path: program, anthropic_base_url: model.url }));
  await until("it is read", async () => (await loop.call("Settings.Get", "")).fields.find((f) => f.name === "claude_bin_path").value === program);
  await settings(page);
  await page.getByText("Claude Code token", { exact: true }).click();
  const give = async (code) => {
    await page.getByRole("textbox", { name: "If the page shows a code" }).fill(code);
    await page.keyboard.press("Enter");
  };
  await page.getByRole("button", { name: "Sign in with Claude" }).click();
  await give("bad#code");
  await page.getByText("The sign-in failed: Invalid code").waitFor();
  await page.getByRole("button", { name: "Begin again" }).click();
  await give("good#code");
  await page.getByText("accepted the token.").first().waitFor();
  equal(model.asked, ["GET /v1/models Bearer sk-ant-oat01-flow-0123456789abcdefghij"], "the trial");
  const kept = await loop.call("System.Credentials");
  equal(kept.filter((k) => k.set).map((k) => [k.kind, k.where, k.trial.state]), [["claude_code_oauth_token", "file", "accepted"]], "kept");
  ok(!JSON.stringify(kept).includes("sk-ant-oat01-flow") && !(await page.content()).includes("sk-ant-oat01-flow"), "the token is told");
  await model.close();
});

test("keys: a real Loop asks the model of its settings", { loop: { config: "{}\n" } }, async (page, loop) => {
  const model = await scripted();
  await loop.write("global", JSON.stringify({ anthropic_base_url: model.url }));
  await until("it is read", async () => (await loop.call("Settings.Get", "")).fields.find((f) => f.name === "anthropic_base_url").value === model.url);
  await settings(page);
  await page.locator("#credential").fill("sk-ant-refused");
  await page.keyboard.press("Enter");
  await page.getByText("refused the key (401).").waitFor();
  ok((await loop.call("System.Credentials")).every((k) => !k.set), "a refused key is stored");
  await page.locator("#credential").fill("sk-ant-good");
  await page.keyboard.press("Enter");
  await page.getByText("accepted the key.").first().waitFor();
  ok((await loop.call("System.Credentials")).some((k) => k.set && k.where === "file"), "a good key is not stored");
  await model.close();
});

/** A Messages API that knows one key that it does not take. */
async function scripted() {
  const asked = [];
  const server = createServer((req, res) => {
    const said = req.headers["x-api-key"] ?? req.headers.authorization ?? "";
    asked.push(`${req.method} ${req.url} ${said}`);
    res.writeHead(said.includes("refused") ? 401 : 200).end("{}");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { asked, url: `http://127.0.0.1:${server.address().port}`, close: () => new Promise((done) => { server.closeAllConnections(); server.close(done); }) };
}
