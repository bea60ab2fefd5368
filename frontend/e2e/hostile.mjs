// Texts and pictures that are made to harm whoever looks at them: shown safely, or refused with words.
import { crc32, deflateSync } from "node:zlib";
import { clean } from "./clean.mjs";
import { becomes, equal, ok, test, until } from "./harness.mjs";

const prompt = (page) => page.locator("[data-prompt]");

/** A PNG of one colour: a few kilobytes that stand for gigabytes. */
function blank(width, height) {
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 1; // bit of a grey
  const rows = Buffer.alloc((1 + Math.ceil(width / 8)) * height);
  return Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), chunk("IHDR", head), chunk("IDAT", deflateSync(rows, { level: 1 })), chunk("IEND", Buffer.alloc(0))]);
}

const LAUGHS = `<svg xmlns="http://www.w3.org/2000/svg" width="999999999" height="999999999" onload="alert(1)"><script>alert(1)</script><image href="https://evil.example/i.png"/><g id="a0"><path d="M0 0h1"/></g>${
  Array.from({ length: 9 }, (_, i) => `<g id="a${i + 1}">${`<use href="#a${i}"/>`.repeat(10)}</g>`).join("")}</svg>`;

const TEXT = [
  "<script>alert(1)</script><img src=https://evil.example/i.png onerror=alert(1)><iframe srcdoc='<script>alert(1)</script>'></iframe><style>*{display:none!important}</style>", LAUGHS,
  "![pixel](https://evil.example/pixel.png) ![svg](data:image/svg+xml;base64,PHN2Zy8+) [run](javascript:alert(1)) [read](file:///etc/passwd) [page](data:text/html,<script>alert(1)</script>) [approve](loop://approve/1)",
  "[https://bank.example](https://evil.example/login) [apple](https://аррӏе.com/) invoice\u202egnp.exe", `[long](https://long.example/${"a".repeat(30_000)})`, `[${"a.".repeat(60)}1](https://dots.example/)`,
  `${">".repeat(20_000)} quotes`, "*a _b ".repeat(4000) + "b_ a*".repeat(4000),
];

test("bad input: hostile Markdown, HTML, SVG and links run nothing, load nothing and lead nowhere", async (page, mock) => {
  const asked = [];
  const own = new URL(mock.url).host;
  page.on("request", (r) => { if (new URL(r.url()).host !== own && !/^(blob|data):/.test(r.url())) asked.push(r.url()); });
  page.on("dialog", (d) => { asked.push(`a dialog: ${d.message()}`); void d.dismiss(); });
  const ch = mock.world.addChannel("hostile", "/home/ana/src/hostile");
  const say = (id, content, is_bot) => mock.world.emit("message.created", ch.channel_id, "r-hostile", { msg_id: id, content, is_bot });
  await page.getByRole("treeitem", { name: "hostile" }).click();
  say("p", "Write something.", false);
  TEXT.forEach((text, i) => say(`m${i}`, text, true));
  say("end", "That was all of it.", true);
  await page.getByText("That was all of it.").waitFor();
  await prompt(page).fill("still here");
  const seen = new Set();
  const look = async () => {
    for (const text of await page.locator("article").allTextContents()) seen.add(text);
    const inside = await page.locator(".md").evaluateAll((all) => all.flatMap((el) => [...el.querySelectorAll("script, style, iframe, object, embed, form, link, meta, base, img, image, use, foreignObject, [onload], [onerror], a:not([href^='http'])")].map((x) => x.outerHTML.slice(0, 80))));
    equal(inside, [], "elements in agent text");
  };
  await page.locator("article").last().hover();
  for (let i = 0; i < 40 && !/Write something/.test([...seen].join("")); i++) {
    await look();
    await page.mouse.wheel(0, -400);
    await page.waitForTimeout(50);
  }
  const all = [...seen].join("\n");
  for (const words of ["(evil.example)", "⟨RLO⟩gnp.exe", "Image not loaded", "as it was written"]) ok(all.includes(words), `${words} is shown`);
  for (const name of ["run", "read", "page", "approve"]) equal(await page.getByRole("link", { name, exact: true }).count(), 0, `links called ${name}`);
  ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the window");
  await clean(page, "hostile text");
  equal(await prompt(page).inputValue(), "still here");
  equal(asked, [], "what was asked for");
});

test("bad input: pictures of gigabytes and an SVG that never ends, with prompts and as files", { quietErrors: true, size: [1500, 900] }, async (page, mock) => {
  const [most, bomb] = [blank(8000, 8000), blank(30_000, 30_000)];
  ok(most.length < 100_000 && bomb.length < 1_000_000, "they are small");
  const dir = "home/ana/src/api-server";
  mock.files.tree[dir].push("bomb.png", "bomb.svg");
  mock.files.tree[`${dir}/bomb.png`] = { data: bomb.toString("base64") };
  mock.files.tree[`${dir}/bomb.svg`] = LAUGHS;
  const asked = [];
  page.on("request", (r) => { if (r.url().includes("evil.example")) asked.push(r.url()); });
  page.on("dialog", (d) => { asked.push(d.message()); void d.dismiss(); });

  // As files: refused by what they say of themselves, and as text.
  await page.getByRole("treeitem", { name: "api-server" }).click();
  await page.keyboard.press("Control+Shift+P");
  await page.keyboard.insertText("files of the container");
  await page.keyboard.press("Enter");
  const panel = page.getByRole("region", { name: "Files of the container" });
  await panel.getByText("bomb.png").click();
  await panel.getByText("The picture has 30000 × 30000 points, too many to show.").waitFor();
  await panel.getByText("bomb.svg").click();
  await panel.getByRole("group", { name: "Content of bomb.svg" }).getByText("onload").first().waitFor();
  equal(await panel.locator("svg:not(.lucide), img").count(), 0, "pictures of an SVG");

  // Of a prompt: named, and drawn once it is wanted.
  const picture = { id: "e".repeat(64), name: "bomb.png", type: "image/png", width: 8000, height: 8000, bytes: most.length };
  mock.files.pictures.set(picture.id, most.toString("base64"));
  const ch = mock.world.addChannel("pictures", "/home/ana/src/pictures");
  mock.world.emit("message.created", ch.channel_id, "r-pictures", { msg_id: "p", content: "Look at these.", is_bot: false, attachments: Array.from({ length: 20 }, (_, i) => ({ ...picture, name: `bomb ${i}.png` })) });
  await page.getByRole("treeitem", { name: "pictures" }).click();
  await page.getByRole("button", { name: "Show bomb 19.png" }).waitFor();
  equal(await page.locator(".pictures img").count(), 0, "pictures that were drawn");
  await page.getByRole("button", { name: "Show bomb 19.png" }).click();
  const large = page.getByRole("dialog", { name: "bomb 19.png" });
  await until("it is drawn", () => large.getByRole("img").evaluate((el) => el.complete && el.naturalWidth === 8000));
  await page.keyboard.press("Escape");
  await large.waitFor({ state: "detached" });
  await prompt(page).fill("still here");
  await becomes(() => prompt(page).inputValue(), "still here");
  equal(asked, [], "what was asked for");
});
