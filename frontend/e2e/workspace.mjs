// The copy of an agent beside its original, in its panel.
import { clean, CONTRAST } from "./clean.mjs";
import { becomes, equal, ok, test, until } from "./harness.mjs";
import { draw } from "./mock/containers.mjs";
import { someDifferences } from "./mock/files.mjs";

const panel = (page) => page.getByRole("region", { name: "Copy and original" });
const list = (page) => panel(page).getByRole("listbox", { name: "Differences" });
const ticked = (page) => list(page).locator("[role=option][aria-selected=true]").evaluateAll((all) => all.map((el) => el.title.split(",")[0]));

async function open(page, mock, { none = false } = {}) {
  if (!none) mock.files.copies = someDifferences(mock.world.now());
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.insertText("workspace, copy");
  await page.keyboard.press("Enter");
  await panel(page).waitFor();
}

test("workspace: what differs, brought over by the keyboard, and taken back", { size: [1900, 950] }, async (page, mock) => {
  await open(page, mock);
  await until("the list has the keyboard by itself", () => page.evaluate(() => document.activeElement?.matches(".workspace-list")));
  await becomes(() => ticked(page), ["cmd/api/main.go", "internal/auth/limiter.go", "internal/db/migrate.go", "go.mod"], "what only the agent changed");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await panel(page).getByText("RLock").first().waitFor();
  await page.keyboard.press("Space");
  await becomes(() => ticked(page), ["internal/auth/limiter.go", "internal/db/migrate.go", "go.mod"]);
  await clean(page, "the workspace", { looks: CONTRAST });
  await page.keyboard.press("Alt+ArrowLeft");
  await page.getByText("3 files brought into the original.").waitFor();
  equal(mock.files.brought, [["promote", ["internal/auth/limiter.go", "internal/db/migrate.go", "go.mod"]]]);
  await list(page).getByText("limiter.go").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await list(page).getByText("limiter.go").first().waitFor();
  await panel(page).getByRole("button", { name: "Tick the 2 of the original" }).click();
  await list(page).focus();
  await page.keyboard.press("Alt+ArrowRight");
  await page.getByText("2 files brought into the copy.").waitFor();

  // What both have changed is answered for itself.
  await list(page).getByText("session.go").first().click();
  await panel(page).getByText("changed in both").first().waitFor();
  await panel(page).getByRole("button", { name: "Keep the original’s" }).click();
  await page.getByText("1 file brought into the copy.").waitFor();
  equal(mock.files.brought.at(-1), ["pull", ["internal/auth/session.go"]]);
});

test("workspace: begun again from the original, with what would be lost", { size: [1900, 950] }, async (page, mock) => {
  draw(mock.world);
  mock.files.left = [{ channel_id: "gone", copy: "/home/ana/.loop/channels/gone/copy", bytes: 1_600_000_000, in_use: false }];
  await open(page, mock);
  const aside = page.getByRole("complementary", { name: "Recreate the container" });
  await aside.getByText("1.5 GB").first().waitFor();
  await aside.getByRole("radio", { name: /Start again/ }).check();
  await aside.getByText("This would be lost").waitFor();
  await aside.getByText("comes back").waitFor();
  await aside.getByText("Held by a run and 2 terminals.").waitFor();
  await clean(page, "what would be lost", { looks: CONTRAST });
  await page.keyboard.press("Control+Enter");
  await page.getByText("The copy is in the trash.").first().waitFor();
  await panel(page).getByText("Copy and original are the same.").waitFor();
  await aside.getByRole("button", { name: "Bring back" }).first().press("Enter"); // the message lies over it
  await list(page).getByText("limiter.go").first().waitFor();
  await aside.getByRole("button", { name: "To the trash" }).press("Enter");
  await aside.getByText("Copies left behind").waitFor({ state: "detached" });
});

test("workspace: without a copy it says how to get one; a file that changed meanwhile is refused", { quietErrors: true, size: [1900, 950] }, async (page, mock) => {
  await open(page, mock, { none: true });
  await panel(page).getByText("This channel's agents work in the folder itself").waitFor();
  await clean(page, "no copy");
  mock.files.copies = someDifferences(mock.world.now());
  await panel(page).getByRole("button", { name: "Compare again" }).last().click();
  await list(page).waitFor();
  mock.files.copies.find((d) => d.path === "go.mod").mark = "another";
  await list(page).focus();
  await page.keyboard.press("Alt+ArrowLeft");
  await page.getByText("“go.mod” has changed since it was compared.").first().waitFor();
  equal(mock.files.brought, []);
  await page.setViewportSize({ width: 420, height: 800 });
  ok(await list(page).isVisible(), "the list is there when narrow");
});
