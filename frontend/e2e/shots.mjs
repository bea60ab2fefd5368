// Takes pictures of every state of the page: node e2e/shots.mjs [folder]
import { mkdirSync } from "node:fs";
import { launch } from "./browser.mjs";
import { draw } from "./mock/containers.mjs";
import { CONNECT, floodOf } from "./mock/gate.mjs";
import { recordsOf } from "./mock/record.mjs";
import { OWN_SETUP } from "./mock/settings.mjs";
import { SUGGESTED } from "./mock/rules.mjs";
import { startMock } from "./mock/server.mjs";
import { ask, openWindow, under } from "./window.mjs";

const out = process.argv[2] ?? "/tmp/loop-shots";
mkdirSync(out, { recursive: true });
const only = process.argv[3];
const browser = await launch();

async function shot(name, { scenario = "work", theme = "dark", size = [1440, 900], speed = 4, open = null } = {}, act = async () => {}) {
  if (only && !name.includes(only)) return;
  const mock = await startMock({ scenario, speed });
  mock.world.config.theme = theme;
  const page = await browser.newPage({ viewport: { width: size[0], height: size[1] }, colorScheme: theme });
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && console.log(`${name}: ${m.text()}`));
  page.on("pageerror", (e) => console.log(`${name}: ${e}`));
  if (open) await open(page, mock);
  else await page.goto(mock.url);
  await page.getByText("today $").waitFor();
  await act(page, mock);
  await page.waitForTimeout(900);
  await page.screenshot({ path: `${out}/${name}.png` });
  await page.close();
  await mock.close();
}

const open = (name) => (page) => page.getByRole("treeitem", { name }).click();
const demo = async (page) => {
  await page.getByRole("button", { name: "Demo channel" }).click();
};

for (const theme of ["dark", "light"]) {
  await shot(`fresh-${theme}`, { scenario: "fresh", theme }, (p) => p.waitForTimeout(400));
  await shot(`done-${theme}`, { theme }, open("api-server"));
  await shot(`usage-${theme}`, { theme, speed: 8 }, async (p, m) => {
    await open("api-server")(p);
    m.play.enqueue({ channel_id: m.channel("api-server").channel_id, client_id: "c".repeat(32), prompt: "write an essay" });
    await p.getByText("Paragraph 30.").waitFor();
    await p.getByRole("button", { name: "context 86 % full" }).click();
    await p.getByRole("button", { name: "jump to the newest" }).click();
    m.play.enqueue({ channel_id: m.channel("api-server").channel_id, client_id: "d".repeat(32), prompt: "hang" });
  });
  await shot(`failed-${theme}`, { theme }, open("storefront"));
  await shot(`opened-${theme}`, { theme }, async (p) => {
    await open("api-server")(p);
    for (const n of ["Edit internal", "Run go test ./internal/auth -run Login -count=200"]) await p.getByRole("button", { name: n }).first().click();
  });
  await shot(`running-${theme}`, { theme, speed: 1 }, async (p, m) => {
    await demo(p);
    await p.getByRole("button", { name: "Run the demo" }).click();
    await p.getByText("to be or not").waitFor();
    m.play.enqueue({ channel_id: m.channel("Demo").channel_id, client_id: "b".repeat(32), prompt: "Now sort the words by length." });
    await p.waitForTimeout(900);
  });
}
for (const theme of ["dark", "light"]) {
  const say = async (p, text) => {
    await open("docs")(p);
    await p.getByRole("textbox", { name: "Prompt" }).fill(text);
    await p.keyboard.press("Enter");
  };
  await shot(`background-${theme}`, { theme, speed: 10 }, async (p) => {
    await say(p, "start the dev server");
    await p.getByText("Waiting for 1 background task").waitFor();
    await say(p, "now make it green");
  });
  await shot(`cut-off-${theme}`, { theme, speed: 10 }, async (p, m) => {
    await say(p, "start the dev server");
    await p.getByRole("button", { name: "End now", exact: true }).click();
    m.play.pauseAt = "count";
    await say(p, "and then go on");
    await p.getByText("that count").waitFor();
    await p.keyboard.press("Control+.");
    await p.getByText("Stopped", { exact: true }).waitFor();
  });
  for (const what of ["quit", "close"]) {
    await shot(`leaving-${what}-${theme}`, { theme, size: [1000, 700], open: openWindow }, async (p, m) => {
      m.world.leaving = under;
      await ask(p, what);
    });
  }
}
for (const theme of ["dark", "light"]) {
  for (const [name, size] of [["", [1440, 900]], ["-narrow", [320, 700]]]) {
    const begin = async (p, m) => {
      const docs = m.channel("docs & <b>notes</b>");
      m.play.enqueue({ channel_id: docs.channel_id, client_id: "c".repeat(32), prompt: "git config and remember it" });
      await p.getByRole("button", { name: "1 waiting for you" }).waitFor();
      m.gate.ask(m.channel("storefront"), CONNECT);
      await p.getByRole("button", { name: "2 waiting for you" }).waitFor();
      await p.keyboard.press("F8");
      await p.getByRole("group", { name: "Write to a file" }).waitFor();
      return docs;
    };
    await shot(`gate-card${name}-${theme}`, { theme, size, speed: 20 }, begin);
    await shot(`gate-rule${name}-${theme}`, { theme, size, speed: 20 }, async (p, m) => { await begin(p, m); await p.getByRole("button", { name: "Show the rule" }).click(); });
    await shot(`gate-panel${name}-${theme}`, { theme, size, speed: 20 }, async (p, m) => { await begin(p, m); await p.keyboard.press("F8"); });
    await shot(`gate-flood${name}-${theme}`, { theme, size, speed: 20 }, async (p, m) => {
      const docs = await begin(p, m);
      for (const [i, id] of [...m.gate.pending.keys()].entries()) m.gate.end(id, ["denied", "expired"][i], { scope: "once", by: "window" });
      m.gate.ask(docs, floodOf(), [...m.world.runs.values()].at(-1));
      await p.getByRole("button", { name: "Deny all 23" }).waitFor();
      await p.keyboard.press("F8");
      await p.waitForTimeout(700);
      for (const key of ["ArrowDown", "ArrowRight", "a", "ArrowDown", "ArrowDown", "d", "Home"]) await p.keyboard.press(key);
    });
  }
}
for (const theme of ["dark", "light"]) {
  for (const [name, size] of [["", [2000, 900]], ["-half", [1560, 900]], ["-narrow", [420, 800]]]) {
    await shot(`decisions${name}-${theme}`, { theme }, async (p, m) => {
      await open("api-server")(p);
      const ch = m.channel("api-server");
      const tools = m.world.events.get(ch.channel_id).filter((e) => e.type === "tool.use");
      m.gate.record.list = recordsOf(ch, tools[0].run_id, [tools[0].data.tool_use_id, tools[1].data.tool_use_id]);
      await p.keyboard.press("Control+Shift+P");
      await p.keyboard.insertText("decisions of the gate");
      await p.keyboard.press("Enter");
      await p.getByText("× 210").waitFor();
      for (const key of ["j", "j"]) await p.keyboard.press(key);
      await p.setViewportSize({ width: size[0], height: size[1] }); // the narrow page has no tree to begin with
    });
  }
}
for (const theme of ["dark", "light"]) {
  for (const [name, size] of [["", [2000, 900]], ["-narrow", [1440, 900]]]) {
    await shot(`rules${name}-${theme}`, { theme, size }, async (p) => {
      await open("api-server")(p);
      await p.keyboard.press("Control+Shift+P");
      await p.keyboard.insertText("rules of the gate");
      await p.keyboard.press("Enter");
      await p.getByRole("textbox", { name: "What to test" }).fill("~/.cache/go-build/trim.txt");
      await p.getByText("No: allowed").waitFor();
      await p.getByRole("row", { name: "shadowed" }).click();
    });
    await shot(`rules-new${name}-${theme}`, { theme, size }, async (p, m) => {
      m.gate.rules.suggested = SUGGESTED;
      await open("api-server")(p);
      await p.keyboard.press("Control+Shift+P");
      await p.keyboard.insertText("rules of the gate");
      await p.keyboard.press("Enter");
      await p.getByText("You allowed 41 questions").waitFor();
      await p.keyboard.press("n");
      await p.getByRole("textbox", { name: "Files, one pattern" }).fill("/home/*/.cache/go-build/**\n/home/ana/.cache/pip/**");
      await p.getByText("Would have matched 2").waitFor();
    });
    await shot(`rules-suggested${name}-${theme}`, { theme, size }, async (p, m) => {
      m.gate.rules.suggested = SUGGESTED;
      await open("api-server")(p);
      await p.keyboard.press("Control+Shift+P");
      await p.keyboard.insertText("rules of the gate");
      await p.keyboard.press("Enter");
      await p.getByText("You allowed 41 questions").waitFor();
      for (const key of ["j", "j", "j", "j", " "]) await p.keyboard.press(key);
      await p.getByText("Rule 4 is off.").waitFor();
      await p.getByRole("region", { name: "Suggested rules" }).scrollIntoViewIfNeeded();
    });
  }
}
await shot("starting", { speed: 0.4 }, async (p) => {
  await demo(p);
  await p.getByRole("button", { name: "Run the demo" }).click();
  await p.waitForTimeout(700);
});
await shot("finished", { speed: 40 }, async (p) => {
  await demo(p);
  await p.getByRole("button", { name: "Run the demo" }).click();
  await p.getByText("Done", { exact: true }).waitFor();
  await p.waitForTimeout(600);
});
await shot("building", { scenario: "fresh", speed: 1 }, async (p, m) => {
  void m.play.build();
  await p.waitForTimeout(2500);
});
await shot("build-dialog", { scenario: "fresh", theme: "light", speed: 1 }, async (p) => {
  await p.getByRole("button", { name: "Build it now" }).click();
  await p.waitForTimeout(2500);
});
await shot("no-engine", { scenario: "fresh" }, async (p, m) => {
  Object.assign(m.world.engine, { ok: false, failure: { code: "engine_permission", cause: "Docker is there, but this user may not use it.", remedy: "Run “sudo usermod -aG docker ana”, then log out and in again.", detail: "dial unix /var/run/docker.sock: connect: permission denied" } });
  m.world.emit("engine.status", "", "", m.world.engine);
  await p.getByRole("button", { name: "Check again" }).click();
  await p.waitForTimeout(500);
});
await shot("no-engine-timeline", {}, async (p, m) => {
  await open("api-server")(p);
  m.world.emit("engine.status", "", "", { ...m.world.engine, ok: false, failure: { code: "no_engine", cause: "No Docker engine answers.", remedy: "Start Docker, then try again." } });
});
await shot("empty", {}, open("docs"));
await shot("demo-empty", { scenario: "fresh", theme: "light" }, demo);
await shot("offline", {}, async (p, m) => {
  await open("api-server")(p);
  m.down();
  await p.getByText("Loop does not answer").first().waitFor();
  await p.getByRole("textbox", { name: "Prompt" }).fill("Also update the changelog.");
  await p.keyboard.press("Enter");
});
await shot("palette", {}, async (p) => {
  await open("api-server")(p);
  await p.keyboard.press("Control+Shift+P");
});
await shot("palette-light", { theme: "light" }, async (p) => {
  await p.keyboard.press("Control+Shift+P");
  await p.keyboard.type("the");
});
await shot("settings", {}, (p) => p.keyboard.press("Control+,"));
await shot("settings-light", { theme: "light" }, async (p, m) => {
  m.world.config.problems = [{ line: 14, col: 3, field: "container_memory_mb", message: "is a string; a number of megabytes is wanted.", remedy: "Write 2048 without quotes." }];
  m.world.emit("config.changed", "", "", m.world.config);
  await p.keyboard.press("Control+,");
});
for (const theme of ["dark", "light"]) {
  const asked = async (p, m) => {
    m.settings.own.setup = OWN_SETUP;
    await open("api-server")(p);
    await p.getByRole("button", { name: "Show…" }).waitFor();
  };
  await shot(`claude-setup-line-${theme}`, { theme }, asked);
  await shot(`claude-setup-${theme}`, { theme }, async (p, m) => {
    await asked(p, m);
    await p.getByRole("button", { name: "Show…" }).click();
    await p.getByText("3 skills", { exact: true }).click();
  });
}
await shot("folder", {}, async (p) => {
  await p.keyboard.press("Control+o");
  await p.getByRole("option", { name: "src" }).waitFor();
  await p.getByRole("listbox").focus();
  await p.keyboard.press("s");
});
await shot("doctor", {}, async (p) => {
  await p.getByRole("button", { name: "Gate on" }).click();
  await p.waitForTimeout(500);
});
for (const theme of ["dark", "light"]) {
  for (const [i, tab] of ["overview", "why", "logs", "ports"].entries()) {
    await shot(`containers-${tab}-${theme}`, { theme, size: [1440, 900] }, async (p, mock) => {
      draw(mock.world);
      await open("api-server")(p);
      await p.getByRole("button", { name: "Containers" }).click();
      await p.locator(".containers-row").nth(1).waitFor();
      await p.keyboard.press(`${i + 1}`);
    });
  }
}
await shot("remove", { theme: "light" }, async (p) => {
  await open("api-server")(p);
  await p.keyboard.press("Delete");
});
await shot("long-scrolled", { scenario: "long" }, async (p) => {
  await open("monorepo")(p);
  await p.getByText("Task 700").waitFor();
  await p.mouse.move(700, 400);
  await p.mouse.wheel(0, -2500);
});
for (const theme of ["dark", "light"]) {
  await shot(`small-${theme}`, { theme, size: [900, 600] }, open("api-server"));
  await shot(`small-fresh-${theme}`, { scenario: "fresh", theme, size: [900, 600] });
}
await shot("contrast", {}, async (p) => {
  await open("api-server")(p);
  await p.evaluate(() => localStorage.setItem("loop.contrast", "more"));
  await p.reload();
  await p.getByText("Fixed.").waitFor();
});
await browser.close();
console.log(out);
