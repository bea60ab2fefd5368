import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../api/types";
import { fold } from "./build";
import { agentWorks } from "./agents";
import { emptyBuilt } from "./items";
import type { ToolItem } from "./items";
import { activeRun, emptyTimeline } from "./state";
import { costOf, foldTalks, nestAll, talkOf, talkWords } from "./talks";

let id = 0;
const ev = (type: string, run: string, data: unknown): LoopEvent => ({ seq: 0, id: ++id, type, channel_id: "c", run_id: run, timestamp: 1_000_000 + id * 1000, data }) as LoopEvent;
const talk = (more = {}) => ev("terminal.talk", "talk-1", { talk_id: "talk-1", channel_id: "c", session_id: "s", title: "Fix it", prompts: 1, began_ms: 1_000_000, last_ms: 1_720_000, ...more });
const said = (run: string, content: string, bot = true) => ev("message.created", run, { content, is_bot: bot, uuid: content });
const use = (run: string, useId: string, parent = "") => ev("tool.use", run, { tool_use_id: useId, tool_name: parent ? "Read" : "Agent", input: {}, ...(parent && { parent_tool_use_id: parent }) });

const all = () => [
  talk({ working: true }), said("talk-1", "Fix it", false), use("talk-1", "a"), use("talk-1", "b", "a"), said("r", "Of a run", false), said("talk-1", "Done"),
];

describe("conversations in terminals", () => {
  const items = fold(emptyBuilt, all()).items;

  it("are one row, which opens to theirs", () => {
    const closed = nestAll(items, () => false, true);
    expect(closed.rows.map((x) => x.kind)).toEqual(["talk", "prompt"]);
    expect(closed.hidden.get("ttalk-1")?.length).toBe(4);
    const open = nestAll(items, (key) => key === "ttalk-1", true);
    expect(open.rows.map((x) => `${x.kind}${open.depthOf(x)}`)).toEqual(["talk0", "prompt1", "tool1", "text1", "prompt0"]);
    const deep = nestAll(items, () => true, true);
    expect(deep.rows.map((x) => deep.depthOf(x))).toContain(2);
  });

  it("are no runs", () => {
    expect(activeRun({ ...emptyTimeline, built: fold(emptyBuilt, all()) })?.runId).not.toBe("talk-1");
  });

  it("have their row where their beginning is on an older page", () => {
    const late = fold(emptyBuilt, [said("talk-1", "Done"), talk({ working: false, prompts: 3 })]).items;
    expect(late.map((x) => x.kind)).toEqual(["talk", "text"]);
    expect(late[0]).toMatchObject({ talk: { prompts: 3 } });
  });

  it("leave no call at work when the turn is over", () => {
    const over = fold(emptyBuilt, [...all(), talk({ working: false, broken: true })]).items;
    expect(over.filter((x) => x.kind === "tool").every((x) => x.kind === "tool" && x.orphaned)).toBe(true);
  });

  it("have sub-agents that work in the background, which open to their rows", () => {
    const launched = ev("tool.result", "talk-1", { tool_use_id: "a", output: "Async agent launched successfully. More", is_error: false });
    const state = (name: string) => ev("agent.activity", "talk-1", { activity: name === "running" ? "task_started" : "task_notification", parent_tool_use_id: "a", agent: { kind: "Explore", state: name, calls: name === "running" ? 0 : 1 } });
    const words = ev("agent.activity", "talk-1", { activity: "task_message", description: "Found it", model: "claude-x", parent_tool_use_id: "a" });
    const agent = (b: ReturnType<typeof fold>) => b.items.find((x): x is ToolItem => x.kind === "tool" && x.useId === "a")!;
    const begun = [talk({ working: true }), said("talk-1", "Fix it", false), use("talk-1", "a"), launched, state("running"), use("talk-1", "b", "a"), said("talk-1", "It works")];
    expect(agentWorks(agent(fold(emptyBuilt, begun)))).toBe(true);
    const done = fold(emptyBuilt, [...begun, words, state("completed"), talk()]);
    expect([agentWorks(agent(done)), agent(done).agent?.state]).toEqual([false, "done"]);
    const closed = nestAll(done.items, (key) => key === "ttalk-1", true);
    expect(closed.rows.map((x) => `${x.kind}${closed.depthOf(x)}`)).toEqual(["talk0", "prompt1", "tool1", "text1"]);
    const open = nestAll(done.items, () => true, true);
    expect(open.rows.map((x) => `${x.kind}${open.depthOf(x)}`)).toEqual(["talk0", "prompt1", "tool1", "tool2", "activity2", "text1"]);
    const gone = fold(emptyBuilt, [...begun, state("stopped"), talk({ broken: true })]);
    expect([agentWorks(agent(gone)), agent(gone).agent?.state]).toEqual([false, "stopped"]);
  });

  it("show nothing where a filter leaves none of their rows", () => {
    const head = items.filter((x) => x.kind === "talk");
    expect(foldTalks(head, () => false, false).rows).toEqual([]);
    expect(foldTalks(head, () => false, true).rows).toHaveLength(1);
  });

  it("say what is known of them", () => {
    const words = (more: object) => { const t = talkOf(talk(more).data); return talkWords({ kind: "talk", key: "k", at: 0, runId: "talk-1", talk: t }); };
    expect(words({ prompts: 4, cost_usd: 0.234 })).toBe("In the terminal: “Fix it” · 4 prompts · 12 m · $0.23");
    expect(words({ working: true, title: "" })).toContain("a conversation · working");
    expect(costOf(talkOf({ cost_usd: 0.5, cost_estimated: true }))).toBe("≈ $0.50");
    expect(costOf(talkOf({ unpriced: ["claude-x"] }))).toBe("cost not known yet");
    expect(costOf(talkOf({ unpriced: ["claude-x"], cost_usd: 0.5 }))).toBe("more than $0.50");
    expect(costOf(talkOf({ demo: true, cost_usd: 9 }))).toBe("no cost");
  });

  it("are read whatever an event holds", () => {
    for (const data of [{}, { prompts: "x", cost_usd: -1, last_ms: {}, unpriced: [3, null] }, []]) {
      expect(fold(emptyBuilt, [ev("terminal.talk", "talk-2", data)]).items).toHaveLength(1);
      expect(talkWords({ kind: "talk", key: "k", at: 0, runId: "talk-2", talk: talkOf(data) })).toBe("In the terminal: a conversation");
    }
    expect(fold(emptyBuilt, [ev("terminal.talk", "r", {})]).items).toEqual([]);
  });
});
