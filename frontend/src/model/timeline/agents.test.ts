import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../api/types";
import { agentWorks, reportOf } from "./agents";
import { fold } from "./build";
import { emptyBuilt } from "./items";
import type { Item, ToolItem } from "./items";
import { nest } from "./nest";
import { describeTool } from "./tools";

let id = 0;
const ev = (type: string, data: unknown, stored = true): LoopEvent => ({ seq: 0, ...(stored ? { id: ++id } : {}), type, channel_id: "c", run_id: "r", timestamp: 1_000_000 + id * 1000, data }) as LoopEvent;

/** What the parser makes of a recording of the pinned CLI, as Loop stores and publishes it. */
function recorded(name: string): LoopEvent[] {
  const lines = readFileSync(new URL(`../../../../backend/runner/transcript/testdata/claude-2.1.332/${name}.golden`, import.meta.url), "utf8").split("\n");
  return lines.flatMap((l) => {
    const m = /^([ ~]) ([a-z_]+\.[a-z_]+) (\{.*\})$/.exec(l);
    return m && m[2] !== "message.streaming" ? [ev(m[2] ?? "", JSON.parse(m[3] ?? ""), m[1] === " ")] : [];
  });
}

const call = (items: readonly Item[], name = "Agent"): ToolItem => items.find((x): it is ToolItem => x.kind === "tool" && x.name === name)!;
const names = (items: readonly Item[]) => items.map((x) => (x.kind === "tool" ? x.name : x.kind === "activity" ? x.name : x.kind));
const said = (x: ToolItem) => {
  const v = describeTool(x, "/repo/project");
  return [v.verb, v.object, v.note, v.mark.text, v.mark.tone].join(" | ");
};

describe("a sub-agent of the pinned CLI, in the background", () => {
  const events = recorded("background-agent-picture");
  const built = fold(emptyBuilt, events);

  it("is one row, which says who it was and what it came to", () => {
    expect(names(nest(built.items, () => false).rows)).toEqual(["text", "Agent", "Read", "text", "text"]);
    expect(said(call(built.items))).toBe("Agent | Find every fixed wait | Explore, Sonnet 5.5 | 4 calls, 73 tokens | ok");
    expect(call(built.items).agent).toMatchObject({ state: "done", ms: expect.any(Number), calls: 4, counted: 4 });
  });

  it("opens to what it was asked, its own rows, and its words", () => {
    const agent = call(built.items);
    const view = nest(built.items, (key) => key === agent.key);
    expect(names(view.rows)).toEqual(["text", "Agent", "task_prompt", "task_message", "Bash", "Read", "Read", "Read", "task_message", "Read", "text", "text"]);
    expect(view.rows.map((x) => view.depthOf(x)).join("")).toBe("001111111000");
    expect(new Set(view.rows.map((x) => x.key)).size).toBe(view.rows.length);
  });

  it("says what it does now", () => {
    const until = (n: number) => fold(emptyBuilt, events.slice(0, n));
    const at = events.findIndex((e) => e.type === "tool.use" && e.data?.tool_name === "Bash");
    expect(said(call(until(at).items))).toBe("Agent | Find every fixed wait | Explore, Sonnet 5.5 | working | busy");
    expect(said(call(until(at + 1).items))).toBe("Agent | Find every fixed wait | Run grep -rn Sleep internal | 1 call | busy");
    expect(said(call(until(at + 2).items))).toBe("Agent | Find every fixed wait | Running Find waits | 1 call, 2 tokens | busy");
  });

  it("is the same without the events that are not stored", () => {
    const stored = fold(emptyBuilt, events.filter((e) => e.id));
    expect(said(call(stored.items))).toBe(said(call(built.items)));
  });
});

describe("a sub-agent of the pinned CLI, that is waited for", () => {
  const events = recorded("sub-agent-retry");
  const items = fold(emptyBuilt, events).items;

  it("gives its report without the CLI's words for the model", () => {
    const agent = call(items);
    const view = nest(items, (key) => key === agent.key);
    expect(names(view.rows)).toEqual(["Agent", "task_prompt", "Bash", "task_report", "text"]);
    expect(view.rows[3]).toMatchObject({ text: "Three files wait." });
    expect(said(agent)).toBe("Agent | Find every fixed wait | Explore | 1 call, 22 tokens | ok");
  });

  it("says that it waits for the model", () => {
    const at = events.findIndex((e) => e.data?.activity === "api_retry");
    expect(said(call(fold(emptyBuilt, events.slice(0, at + 1)).items))).toContain("The model is overloaded (529)");
  });
});

describe("sub-agents", () => {
  const use = (useId: string, parent = "", name = "Agent") => ev("tool.use", { tool_use_id: useId, parent_tool_use_id: parent, tool_name: name, input: { description: `task ${useId}` } });
  const answer = (useId: string, parent = "", more = {}) => ev("tool.result", { tool_use_id: useId, parent_tool_use_id: parent, output: "fine", is_error: false, ...more });
  const build = (...events: LoopEvent[]) => fold(emptyBuilt, events).items;

  it("may have sub-agents, and a closed row stands for all below it", () => {
    const items = build(use("a"), use("b", "a"), use("c", "b", "Bash"), answer("c", "b"), answer("b", "a"), answer("a"));
    const closed = nest(items, () => false);
    expect(names(closed.rows)).toEqual(["Agent"]);
    expect(closed.hidden.get(call(items).key)?.map((x) => (x.kind === "tool" ? x.useId : x.kind))).toContain("c");
    const open = nest(items, () => true);
    expect(open.rows.map((x) => `${x.kind === "tool" ? x.useId : x.kind}${open.depthOf(x)}`)).toEqual(["a0", "b1", "c2", "activity2", "activity1"]);
  });

  it("whose call is on an older page keep their rows in their place", () => {
    const view = nest(build(use("c", "gone", "Bash"), answer("c", "gone")), () => false);
    expect(view.rows.map((x) => view.depthOf(x))).toEqual([1]);
  });

  it("that name each other as parents show all rows, once", () => {
    const items = build(use("a", "b"), use("b", "a"), use("c", "c"));
    for (const open of [true, false]) {
      const view = nest(items, () => open);
      expect(new Set(view.rows.map((x) => x.key)).size).toBe(view.rows.length);
      expect(view.rows.length + [...view.hidden.values()].flat().length).toBe(3);
    }
  });

  it("that fail, are stopped or never answer say so", () => {
    const ended = (state: string) => ev("agent.activity", { activity: "task_notification", parent_tool_use_id: "a", description: "why", agent: { state } });
    const launched = answer("a", "", { output: "Async agent launched successfully. More" });
    expect(said(call(build(use("a"), launched, ended("failed"))))).toContain("| failed | fail");
    expect(said(call(build(use("a"), launched, ended("killed"))))).toContain("| stopped | fail");
    expect(said(call(build(use("a"), answer("a", "", { is_error: true, output: "Agent type not found" }))))).toContain("| failed | fail");
    const over = build(use("a"), launched, ev("agent.status", { status: "completed", state: "done" }));
    expect([agentWorks(call(over)), said(call(over)).split(" | ").slice(-2)]).toEqual([false, ["no result", "fail"]]);
    expect(agentWorks(call(build(use("a"), launched)))).toBe(true);
  });

  it("do not end the run's own wait for the model", () => {
    const wait = ev("agent.activity", { activity: "api_retry", retry: { attempt: 1, of: 4, delay_ms: 1000, why: "Busy." } });
    const items = build(use("a"), wait, use("b", "a", "Read"), answer("b", "a"));
    expect(items.find((x) => x.kind === "retry")).toMatchObject({ until: 0 });
  });

  it("survive data of the wrong shape", () => {
    const items = build(use("a"), ev("agent.activity", { activity: 7, parent_tool_use_id: "a", agent: { calls: "x", tokens: -5, state: {} } }), ev("agent.activity", { parent_tool_use_id: ["a"], agent: 3 }));
    expect(said(call(items))).toContain("Agent | task a");
  });
});

describe("a report", () => {
  it("loses what the CLI adds for the model", () => {
    expect(reportOf("sub ok\nagentId: aea (use SendMessage with to: 'aea')\n<usage>subagent_tokens: 120\ntool_uses: 0</usage>")).toBe("sub ok");
    expect(reportOf("Async agent launched successfully. (internal)")).toBe("");
    expect(reportOf("x\n[Subagent hand-back] Words. The report follows:\n  One.\n    two\n  ")).toBe("One.\n  two");
    expect(reportOf("plain")).toBe("plain");
  });
});
