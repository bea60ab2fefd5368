// The dialog with the checks, and what Loop can put right by itself.
import { clean, CONTRAST } from "./clean.mjs";
import { equal, test, until } from "./harness.mjs";

test("checks: what Loop can put right has a button, which says how that went", { speed: 20, quietErrors: true }, async (page, mock) => {
  mock.world.homeOpen = true;
  mock.world.fixFails = true;
  await page.keyboard.press("Control+k");
  await page.keyboard.type("run the checks");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Checks" });
  const put = dialog.getByRole("button", { name: "Disk: Let nobody else look into the folder" });
  await put.waitFor();
  equal(await dialog.getByRole("button", { name: /^Gate/ }).count(), 0, "buttons of what is well");
  await put.click();
  await dialog.getByText("could not be closed to others").waitFor();
  await clean(page, "checks", { looks: CONTRAST });
  mock.world.fixFails = false;
  await put.click();
  await until("the button goes", async () => (await put.count()) === 0);
  equal(await dialog.getByText("could not be closed").count(), 0, "failures of before");
  equal(await dialog.getByText(/Others on this computer/).count(), 0, "warnings of before");
});
