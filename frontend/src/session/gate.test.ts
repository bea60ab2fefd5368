import "../test/browser";
import { beforeEach, describe, expect, it } from "vitest";
import type { Approval } from "../api/types";
import { focusPanel, panelWhere, startLayout, TIMELINE } from "../model/dock/layout";
import { layoutsStore } from "../model/dock/store";
import { BROWSER_PANEL } from "../model/browser/baton";
import { WAITING_PANEL } from "../model/gate";
import { frameStore, stopStore, timelinesStore, viewStore } from "../model/stores";
import { quietFace, register } from "../dock/panels";
import type { Answer } from "../test/loop";
import { channel, failure, page, pretendLoop } from "../test/loop";
import { cardActions, goTo, nextNeed, showInPanel, takeStop } from "./gate";
import { asked } from "./leave";
import { startSession } from "./session";

const plain = { noun: "panel", render: () => null, face: () => quietFace, icon: () => null, focus: () => undefined };
register([{ ...plain, kind: TIMELINE }, { ...plain, kind: WAITING_PANEL, key: () => WAITING_PANEL }, { ...plain, kind: BROWSER_PANEL, key: () => BROWSER_PANEL }]);

const approval = (id: string, more: Partial<Approval> = {}) => ({
  approval_id: id, channel_id: "a", run_id: "r", kind: "file", state: "waiting", title: id, target: "/t", calls: 1, digest: `digest of ${id}`, created_at: `2026-11-22T14:00:0${id.length}Z`, ...more,
}) as Approval;

function start(answers: Record<string, Answer> = {}) {
  const loop = pretendLoop({ "Channels.Timeline": () => page(), ...answers });
  startSession(loop.bridge);
  return loop;
}
const stop = () => {
  const { at, to } = stopStore.getState();
  return [viewStore.getState().selected, at, to];
};
const shown = () => {
  const l = layoutsStore.getState()[viewStore.getState().selected] ?? startLayout();
  return l.panels[focusPanel(l)]?.kind;
};

beforeEach(() => {
  frameStore.setState({ ready: true, channels: [channel("a"), channel("b")] as never, questions: [], approvals: [], answered: [], activeRuns: {} });
  layoutsStore.setState({ a: startLayout(), b: startLayout() }, true);
  timelinesStore.setState({}, true);
  stopStore.setState({ at: "", to: "", until: 0 });
  viewStore.setState({ selected: "", dialog: "", toast: null });
});

describe("an answer", () => {
  it("is bound to what the card showed, and counts before its event comes", async () => {
    const a = approval("x");
    frameStore.setState({ approvals: [a] });
    const loop = start({ "Gate.Answer": () => ({ ...a, state: "allowed", scope: "run", by: "window" }) });
    await cardActions(a).answer({ allow: true, scope: "run" });
    expect(loop.called("Gate.Answer")).toEqual([["x", { allow: true, scope: "run", digest: "digest of x", by: "window" }]]);
    expect([frameStore.getState().approvals, frameStore.getState().answered[0]?.state]).toEqual([[], "allowed"]);
  });
  it("that is refused leaves the card, which says why", async () => {
    const a = approval("x");
    frameStore.setState({ approvals: [a] });
    start({ "Gate.Answer": () => Promise.reject(failure("conflict")) });
    await expect(cardActions(a).answer({ allow: false, scope: "once" })).rejects.toMatchObject({ code: "conflict" });
    expect(frameStore.getState().approvals.length).toBe(1);
  });
  it("may wait longer", async () => {
    const a = approval("x");
    frameStore.setState({ approvals: [a] });
    start({ "Gate.Extend": () => ({ ...a, deadline: "2026-11-22T14:10:00Z" }) });
    await cardActions(a).extend();
    expect(frameStore.getState().approvals[0]?.deadline).toBe("2026-11-22T14:10:00Z");
  });
  it("can stop a run, and a terminal has none", () => {
    expect([Boolean(cardActions(approval("x")).stop), Boolean(cardActions(approval("x", { run_id: "" })).stop)]).toEqual([true, false]);
  });
});

describe("the way to what waits", () => {
  it("goes to the oldest first, in its timeline or in the panel, and round again", () => {
    start();
    frameStore.setState({ approvals: [approval("x", { channel_id: "b" }), approval("xx", { run_id: "" }), approval("xxx")] });
    const seen = [0, 1, 2, 3].map(() => {
      nextNeed();
      return [...stop(), shown()];
    });
    expect(seen).toEqual([["b", "x", "timeline", TIMELINE], ["a", "xx", "panel", WAITING_PANEL], ["a", "xxx", "timeline", TIMELINE], ["b", "x", "timeline", TIMELINE]]);
    nextNeed(true);
    expect(stop()).toEqual(["a", "xxx", "timeline"]);
    cardActions(approval("xxx")).go(true);
    expect(stop()).toEqual(["a", "xx", "panel"]);
    expect(viewStore.getState().toast).toBeNull();
  });
  it("shows what a native dialog was asked to show, while it waits", () => {
    frameStore.setState({ approvals: [approval("x"), approval("y", { channel_id: "b" })] });
    start();
    asked("review:y");
    expect(stop()).toEqual(["b", "y", "timeline"]);
    asked("review:gone");
    expect([stop(), viewStore.getState().toast?.text]).toEqual([["b", "y", "timeline"], "It does not wait for you any more."]);
  });
  it("ends at the question, at what leads to the decision on an image, or at the prompt", async () => {
    start();
    const had: string[] = [];
    const has = (...parts: string[]) => {
      document.querySelector = ((s: string) => (parts.includes(s) ? { focus: () => had.push(s) } : null)) as never;
    };
    const [question, decision, prompt] = ["[data-region=question]", "[data-decide]", "[data-prompt]"];
    for (const parts of [[question, decision, prompt], [decision, prompt], [prompt]]) {
      has(...parts);
      goTo({ id: "a", channel: "a", approval: null });
      await new Promise((r) => setTimeout(r, 80));
    }
    expect([...new Set(had)]).toEqual([question, decision, prompt]);
    goTo({ id: "b", channel: "b", approval: null, browser: true });
    expect([shown(), stopStore.getState().at]).toEqual([BROWSER_PANEL, "b"]);
    has();
  });
  it("says that nothing waits", () => {
    start();
    nextNeed();
    expect(viewStore.getState().toast?.text).toBe("Nothing waits for you.");
  });
  it("has one panel, however often it is asked for", () => {
    start();
    viewStore.setState({ selected: "a" });
    showInPanel("x");
    showInPanel("y");
    const l = layoutsStore.getState().a;
    expect(Object.values(l?.panels ?? {}).filter((p) => p.kind === WAITING_PANEL).length).toBe(1);
    expect(l && panelWhere(l, (p) => p.kind === WAITING_PANEL)).not.toBe("");
  });
  it("is followed once, by the part that was meant, and not long afterwards", () => {
    stopStore.setState({ at: "x", to: "panel", until: Date.now() + 3_600_000 });
    expect([takeStop("timeline"), takeStop("panel"), takeStop("panel")]).toEqual(["", "x", ""]);
    stopStore.setState({ at: "x", to: "panel", until: Date.now() - 1 });
    expect([takeStop("panel"), stopStore.getState().to]).toEqual(["", ""]);
  });
});
