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

test("image: one that the settings name is not offered to be built, and a refused build says why", { scenario: "quiet", quietErrors: true }, async (page, mock) => {
  const image = { state: "missing", ref: "mine:1", theirs: true, note: "The first run pulls it, which may take some minutes." };
  await page.getByRole("treeitem", { name: "api-server" }).click();
  mock.world.emit("image.build_status", "", "", (mock.world.image = image));
  const banner = page.locator(".banner");
  await banner.getByText("The image mine:1 is not there yet.").waitFor();
  await banner.getByText("The first run pulls it").waitFor();
  equal(await page.getByRole("button", { name: "Build it now" }).count(), 0, "offers to build");
  mock.world.failNext.set("System.BuildImage", { code: "invalid_input", cause: "The image mine:1 is not one that Loop builds.", remedy: "Remove container_image from the settings." });
  await page.keyboard.press("Control+k");
  await page.keyboard.type("build the agent image");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Agent image" });
  await dialog.getByText("is not one that Loop builds").waitFor();
  equal(await dialog.getByRole("button", { name: /Build it/ }).count(), 0, "the dialog offers to build");
  await page.keyboard.press("Escape");
  await banner.getByRole("button", { name: "Show" }).click();
  await dialog.getByText("Not there yet").waitFor();
  equal(await dialog.getByText("is not one that Loop builds").count(), 0, "a refusal of before");
  await clean(page, "an image of one's own", { looks: CONTRAST });
});
