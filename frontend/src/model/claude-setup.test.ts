import { describe, expect, it } from "vitest";
import type { ClaudeSetup } from "../api/types";
import { grantWords, setupEmpty, setupGroups, setupUnused } from "./claude-setup";

const files = (...paths: string[]) => paths.map((path) => ({ path, bytes: 1 }));
const view = (setup: Partial<ClaudeSetup>, grant = "") => ({ grant, setup: { folder: "/home/ana/.claude", files: null, settings: null, asks: null, left: null, ...setup } });
const hooks = { id: "hooks", text: "Hooks", detail: "", allowed: false };

describe("files by kind", () => {
  it("counts a skill once, whatever it holds, and puts CLAUDE.md first", () => {
    const groups = setupGroups(files("CLAUDE.md", "agents/a.md", "agents/b.md", "keybindings.json", "skills/deploy/SKILL.md", "skills/deploy/run.sh", "skills/review/SKILL.md"));
    expect(groups.map((g) => g.words)).toEqual(["CLAUDE.md", "2 skills", "2 agents", "1 further file"]);
    expect(groups[1]?.paths).toEqual(["skills/deploy/SKILL.md", "skills/deploy/run.sh", "skills/review/SKILL.md"]);
  });
  it("leaves no file out, of whatever folder", () => {
    expect(setupGroups(files("new/kind.md", "rules/x.md", "output-styles/y.md", "notes.md")).map((g) => [g.words, g.paths.length])).toEqual([["1 output style", 1], ["1 rule", 1], ["2 further files", 2]]);
  });
});

describe("the line above the prompt box", () => {
  it.each([
    [view({ files: files("CLAUDE.md", "agents/a.md", "agents/b.md", "skills/x/SKILL.md", "skills/y/SKILL.md", "skills/z/SKILL.md") }), "Your CLAUDE.md, 3 skills and 2 agents are not used here."],
    [view({ files: files("CLAUDE.md") }), "Your CLAUDE.md is not used here."],
    [view({ files: files("agents/a.md") }), "Your 1 agent is not used here."],
    [view({ files: files("agents/a.md", "agents/b.md") }), "Your 2 agents are not used here."],
    [view({ settings: ["model", "theme"] }), "Your 2 settings are not used here."],
    [view({ files: files("CLAUDE.md", "agents/a.md", "commands/c.md", "rules/r.md"), settings: ["model"] }), "Your CLAUDE.md, 1 agent, 1 command and more are not used here."],
    [view({ asks: [hooks] }), "Your Claude set-up is not used here."],
  ])("%#", (v, words) => expect(setupUnused(v)).toBe(words));
  it("says nothing where there is nothing, or where the person has answered", () => {
    const left = view({ left: [{ text: "settings.json: apiKeyHelper", reason: "no" }] });
    expect([setupEmpty(left), setupUnused(left)]).toEqual([true, ""]);
    expect(["read", "none"].map((grant) => setupUnused(view({ files: files("CLAUDE.md") }, grant)))).toEqual(["", ""]);
  });
});

it("what the settings say is told apart", () => {
  expect(new Set(["", "none", "read"].map(grantWords)).size).toBe(3);
});
