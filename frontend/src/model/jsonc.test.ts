import { describe, expect, it } from "vitest";
import type { Schema } from "./jsonc";
import { completed, completions, offsetOf, spotAt } from "./jsonc";

const schema: Schema = {
  properties: {
    claude_model: { type: ["string", "null"], description: "Model." },
    theme: { type: ["string", "null"], enum: ["system", "dark", "light", null], default: "system" },
    browser_enabled: { type: ["boolean", "null"], default: true },
    browser: { type: ["object", "null"], properties: { cpus: { type: "number" }, mode: { enum: ["docker", "host"] } } },
    mcp: { properties: { servers: { additionalProperties: { properties: { command: { type: "string" }, args: { type: "array" } } } } } },
    agents: { properties: { list: { type: "array", items: { properties: { id: { type: "string" }, name: { type: "string" } } } } } },
    gone: { deprecated: true },
  },
};

/** | is the caret. */
const at = (marked: string) => ({ text: marked.replace("|", ""), caret: marked.indexOf("|") });
function labels(marked: string): string[] | null {
  const { text, caret } = at(marked);
  const spot = spotAt(text, caret);
  return spot && completions(schema, spot, { claude_model: ["opus"] }, { claude_model: "Model", "browser.cpus": "CPU limit" }).map((c) => c.label);
}

describe("what could be written", () => {
  it.each([
    ["{|}", ["claude_model", "theme", "browser_enabled", "browser", "mcp", "agents"]],
    ["{\n  \"bro|", ["browser_enabled", "browser"]],
    ["{\n  bro|\n}", ["browser_enabled", "browser"]],
    ["{ \"theme\": \"dark\", \"|\" }", ["claude_model", "browser_enabled", "browser", "mcp", "agents"]],
    ["{ \"|\", \"theme\": 1 }", ["claude_model", "browser_enabled", "browser", "mcp", "agents"]],
    ["{ \"theme\": | }", ["system", "dark", "light"]],
    ["{ \"theme\": \"d|\" }", ["dark"]],
    ["{ \"theme\": \"dark\"\n |\n}", ["claude_model", "browser_enabled", "browser", "mcp", "agents"]], // the comma is still missing
    ["{ \"browser_enabled\": t| }", ["true"]],
    ["{ \"claude_model\": \"|\" }", ["opus"]],
    ["{ \"browser\": { | } }", ["cpus", "mode"]],
    ["{ \"browser\": { \"mode\": \"|", ["docker", "host"]],
    ["{ \"mcp\": { \"servers\": { \"x\": { \"|\" } } } }", ["command", "args"]],
    ["{ \"agents\": { \"list\": [ { \"id\": \"a\" }, { \"|\" } ] } }", ["id", "name"]],
    ["{ /* \"x\" */ \"model|\" }", ["claude_model"]],
    ["{ \"limit|\" }", []],
    ["{ // the|me\n}", null],
    ["{ /* the|me */ }", null],
    ["{ \"theme\" |: 1 }", null],
    ["{ \"theme\": \"dark\"|, }", null],
    ["|", []],
  ])("%s", (marked, want) => expect(labels(marked)).toEqual(want));

  it("never breaks", () => {
    const text = "{\n // c\n \"a\\\"b\": [1, {\"x\": /* y */ null}, \"unclosed\n }, ]]}} \"t";
    for (let end = 0; end <= text.length; end++) for (let caret = 0; caret <= end; caret++) spotAt(text.slice(0, end), caret);
  });
});

describe("a completion", () => {
  const done = (marked: string, label: string) => {
    const { text, caret } = at(marked);
    const spot = spotAt(text, caret);
    const c = spot && completions(schema, spot, {}, {}).find((x) => x.label === label);
    if (!spot || !c) throw new Error("no completion");
    const next = completed(text, spot, c);
    return `${next.text.slice(0, next.caret)}|${next.text.slice(next.caret)}`;
  };
  it.each([
    ["{ the| }", "theme", "{ \"theme\": \"|\" }"],
    ["{ \"the|\" }", "theme", "{ \"theme\": \"|\" }"],
    ["{ \"the|\": \"dark\" }", "theme", "{ \"theme\"|: \"dark\" }"],
    ["{ \"theme\": \"d|\" }", "dark", "{ \"theme\": \"dark\"| }"],
    ["{ \"theme\": l| }", "light", "{ \"theme\": \"light\"| }"],
    ["{ | }", "browser", "{ \"browser\": {|} }"],
    ["{ | }", "browser_enabled", "{ \"browser_enabled\": | }"],
  ])("%s, %s", (marked, label, want) => expect(done(marked, label)).toBe(want));
});

it("lines and columns", () => {
  const text = "a\n𝄞bc\n";
  expect([offsetOf(text, 1, 1), offsetOf(text, 2, 1), offsetOf(text, 2, 2), offsetOf(text, 2, 99), offsetOf(text, 9, 1)]).toEqual([0, 2, 4, 6, 7]);
});
