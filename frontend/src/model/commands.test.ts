import { describe, expect, it } from "vitest";
import type { SlashCommand } from "../api/types";
import { commandAt, fuzzy, matchCommands, withCommand } from "./commands";
import { modelWord, ownWords } from "./models";

const of = (source: SlashCommand["source"], ...names: string[]): SlashCommand[] => names.map((name) => ({ name, source }));
const names = (all: SlashCommand[], query: string) => matchCommands(all, query).groups.map((g) => [g.title, ...g.matches.map((m) => m.command.name)]);

describe("commands", () => {
  it.each([
    ["/", 1, ""], ["/rev", 4, "rev"], ["/rev", 2, "r"], ["/rev now", 8, null], [" /rev", 5, null], ["see /rev", 8, null], ["/db:seed", 8, "db:seed"], ["", 0, null],
  ])("are the first word of a prompt: %j", (text, caret, want) => expect(commandAt(text, caret)).toBe(want));

  it("take the place of that word", () => {
    expect(withCommand("/re", "review")).toEqual({ text: "/review ", caret: 8 });
    expect(withCommand("/re the last", "review")).toEqual({ text: "/review the last", caret: 8 });
  });

  const all = [...of("claude", "compact", "init", "review"), ...of("project", "pre-view", "release-notes"), ...of("person", "ticket")];

  it("are in groups, in their order", () => {
    expect(names(all, "")).toEqual([["Claude Code", "compact", "init", "review"], ["This project", "pre-view", "release-notes"], ["Yours", "ticket"]]);
    expect(names(all, "rv")).toEqual([["Claude Code", "review"], ["This project", "pre-view"]]);
    expect(names(all, "zzz")).toEqual([]);
  });

  it("begin with the best of all groups", () => {
    const best = (query: string) => {
      const m = matchCommands(all, query);
      return m.groups.flatMap((g) => g.matches)[m.best]?.command.name;
    };
    expect([best("re"), best("rel"), best("notes"), best("t"), best("")]).toEqual(["review", "release-notes", "release-notes", "ticket", "compact"]);
  });

  it("are bounded once letters were typed", () => {
    const many = of("project", ...Array.from({ length: 90 }, (_, i) => `a${i}`));
    expect([matchCommands(many, "a").groups[0]?.matches.length, matchCommands(many, "a").total, matchCommands(many, "").groups[0]?.matches.length]).toEqual([20, 90, 90]);
  });

  it("show which letters matched", () => {
    expect(fuzzy("NOT", "release-notes")?.marks).toEqual([8, 9, 10]);
    expect(fuzzy("rn", "release-notes")?.marks).toEqual([0, 8]);
    expect(fuzzy("nr", "release-notes")).toBe(null);
  });
});

describe("models", () => {
  it.each([
    ["opus", "", "Opus"], ["opus", "claude-opus-5-5", "Opus 5.5"], ["opus", "claude-sonnet-5-5", "Opus"], ["claude-haiku-4-5-20251001", "", "Haiku 4.5"], ["my-own", "", "my-own"], ["a.b(", "claude-x", "a.b("],
  ])("are shown in words: %j", (name, last, want) => expect(modelWord(name, last)).toBe(want));

  it("of a prompt's own are said with its effort", () => expect([ownWords("opus", "max"), ownWords("", "low"), ownWords()]).toEqual(["Opus, effort max", "effort low", ""]));
});
