import { describe, expect, it } from "vitest";
import type { SettingsField } from "../api/types";
import { searchFields, slip } from "./settings-search";

// Some fields as Loop labels them; backend/config/labels.go has all.
const f = (name: string, title: string, words: string, group: string, doc = "", one_of: string[] = []) => ({ name, title, words, group, doc, one_of }) as unknown as SettingsField;
const FIELDS = [
  f("claude_model", "Model", "opus sonnet haiku llm claude version which cost price cheap fast quality", "agents", "Model; empty leaves the choice to the CLI."),
  f("claude_retry.max_attempts", "Attempts at most", "retry again overloaded 529 error network repeat limit cost price", "agents", "Attempts at most."),
  f("container_timeout_sec", "Longest time of a run", "timeout time limit limits stop hang stuck duration cost price budget", "containers", "Longest time a run may take."),
  f("container_memory_mb", "Memory limit", "ram out of memory oom size resources killed limits", "containers", "Memory limit of a container."),
  f("proxies.http_proxy", "Proxy for http", "egress corporate company firewall internet network", "network", "Proxy for http addresses."),
  f("container_network", "Network of containers", "internet offline bridge none egress connection isolate access", "network", "bridge, none, or the name of a network."),
  f("terminal.colors", "Colours", "colors ansi palette scheme background look dark light", "terminals", "Colours instead of Loop's own."),
  f("terminal.bell", "Bell", "sound beep ring alert noise quiet mute", "terminals", "What a bell does: a mark on the tab, a sound as well, or nothing.", ["mark", "sound", "off"]),
  f("theme", "Theme", "dark light contrast night mode colours colors appearance look system bright black white", "look", "Look of the window.", ["system", "dark", "light", "contrast"]),
  f("notify_sound", "Sound", "notifications noise ring beep audio mute quiet alert", "notifications", "Let the desktop play its sound with these notifications."),
];
const GROUPS = [...new Set(FIELDS.map((x) => x.group))].map((id) => ({ id, name: id }));
const found = (query: string) => searchFields(FIELDS, GROUPS, query).map((x) => x.name);

describe("settings are found by meaning", () => {
  it.each([
    ["dark", "theme"], ["dark mode", "theme"], ["night", "theme"], ["proxy", "proxies.http_proxy"], ["corporate proxy", "proxies.http_proxy"],
    ["sound", "notify_sound"], ["sounds", "notify_sound"], ["how do I mute the bell", "terminal.bell"], ["ram", "container_memory_mb"],
    ["out of memory", "container_memory_mb"], ["opus", "claude_model"], ["notify_sound", "notify_sound"], ["container_timeout", "container_timeout_sec"],
    ["memroy", "container_memory_mb"], ["retries", "claude_retry.max_attempts"], ["Theme", "theme"],
  ])("“%s” finds %s first", (query, name) => expect(found(query)[0]).toBe(name));

  it("what costs money finds the limits", () => {
    for (const query of ["price", "cost", "costs"]) expect(found(query)).toEqual(expect.arrayContaining(["claude_model", "container_timeout_sec", "claude_retry.max_attempts"]));
  });
  it("egress finds the ways out", () => expect(found("egress")).toEqual(["proxies.http_proxy", "container_network"]));
  it("finds what fits most words where none fits all, and nothing where none fits", () => {
    expect(found("memory zebra")[0]).toBe("container_memory_mb");
    expect(found("zebra")).toEqual([]);
  });
  it("without words everything is there, in its order", () => expect(found("  ")).toHaveLength(FIELDS.length));
});

it.each([["memory", "memroy", true], ["memory", "memor", true], ["memory", "memorys", true], ["memory", "memory", false], ["memory", "mmeroy", false], ["a", "abc", false]])(
  "%s and %s: one slip is %s", (a, b, want) => expect(slip(a, b)).toBe(want),
);
