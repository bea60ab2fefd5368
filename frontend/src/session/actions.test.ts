import "../test/browser";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { register } from "../dock/panels";
import { startLayout, TIMELINE } from "../model/dock/layout";
import { layoutsStore } from "../model/dock/store";
import { leavingStore, nothingAsked } from "../model/leaving";
import { draftsStore, frameStore, outboxStore, timelinesStore, viewStore } from "../model/stores";
import type { Answer } from "../test/loop";
import { channel, failure, page, pretendLoop } from "../test/loop";
import { emptyTimeline } from "../model/timeline/state";
import { addFolder, buildImage, DEMO_PROMPT, openDemo, openDialog, openFolder, openLink, promptAfter, retryRun, select, send, setTheme, step, stopRun, toggleSidebar } from "./actions";
import { forkFrom, newThread, newWorktree, startWith } from "./branches";
import { nextNeed } from "./gate";
import { asked, cancel, canQuit, closeWindow, dialogIsThere, quit, refresh } from "./leave";
import { hold, keepHeld, release, reorder } from "./queue";
import { startSession } from "./session";

register([{ kind: TIMELINE, noun: "timeline", render: () => null, face: () => ({ title: "", detail: "", state: "", unread: false, bell: false, recording: false }), icon: () => null, focus: () => undefined }]);

const leaving = (more: object = {}) => ({ stays: false, ends: null, goes_on: null, waits: null, ...more });

function start(answers: Record<string, Answer> = {}, kind: "window" | "headless" = "headless") {
  const loop = pretendLoop({ "Channels.Timeline": () => page(), ...answers }, kind);
  startSession(loop.bridge);
  return loop;
}
const view = () => viewStore.getState();
const failed = () => view().toast?.failure?.code;
const settle = () => new Promise((r) => setTimeout(r, 1));

beforeEach(() => {
  frameStore.setState({ ready: true, channels: [channel("b", { kind: "project" }), channel("a"), channel("demo", { kind: "demo" })] as never, questions: [], activeRuns: {} });
  layoutsStore.setState({ a: startLayout(), b: startLayout(), demo: startLayout() }, true);
  timelinesStore.setState({}, true);
  draftsStore.setState({}, true);
  outboxStore.setState({ letters: [] });
  leavingStore.setState(nothingAsked, true);
  viewStore.setState({ selected: "", dialog: "", toast: null, sidebarOpen: true });
});

describe("channels", () => {
  it("are read when they are first looked at, and again after a failure", async () => {
    const loop = start();
    select("a");
    await settle();
    select("b");
    select("a");
    await settle();
    expect(loop.called("Channels.Timeline").map((x) => x[0])).toEqual(["a", "b"]);
  });

  it("are stepped through in the order of the sidebar, the demo last, round and round", () => {
    start();
    const seen = [1, 1, 1, 1, -1].map((by) => {
      step(by);
      return view().selected;
    });
    expect(seen).toEqual(["a", "b", "demo", "a", "demo"]);
  });

  it("that were just made are in the tree before their event, once", async () => {
    start({ "Channels.Add": () => channel("new"), "Channels.CreateThread": () => channel("thread", { parent_id: "a" }), "Channels.CreateWorktree": () => channel("new") });
    await addFolder("/src/new");
    await newThread("a");
    await newWorktree("a", "fix", "main");
    expect(frameStore.getState().channels.map((c) => c.channel_id)).toEqual(["b", "a", "demo", "new", "thread"]);
    expect(view().selected).toBe("new");
  });

  it("that cannot be made say why: a thread beside the page, a worktree in its dialog", async () => {
    start({ "Channels.CreateThread": () => Promise.reject(failure("exists")), "Channels.CreateWorktree": () => Promise.reject(failure("branch")), "Channels.ForkAt": () => Promise.reject(failure("gone")) });
    await newThread("a");
    expect(failed()).toBe("exists");
    await expect(newWorktree("a", "fix", "")).rejects.toMatchObject({ code: "branch" });
    await forkFrom("uuid");
    expect(failed()).toBe("gone");
  });

  it("a folder is picked by the system's dialog, or by ours where there is none", async () => {
    start();
    await openFolder();
    expect(view().dialog).toBe("folder");
    viewStore.setState({ dialog: "" });
    const loop = start({ "Channels.PickFolder": () => "", "Channels.Add": () => channel("x") }, "window");
    await openFolder();
    expect([view().dialog, loop.called("Channels.Add")]).toEqual(["", []]); // the person cancelled
    loop.given["Channels.PickFolder"] = () => Promise.reject(failure("no_native_dialog"));
    await openFolder();
    expect(view().dialog).toBe("folder");
  });

  it("the demo begins with a sample, which replaces nothing that was typed", async () => {
    start({ "Channels.Demo": () => channel("demo", { kind: "demo" }) });
    await openDemo();
    expect(draftsStore.getState().demo).toBe(DEMO_PROMPT);
    draftsStore.setState({ demo: "mine" });
    await openDemo();
    expect(draftsStore.getState().demo).toBe("mine");
  });

  it("say with which conversation they go on", async () => {
    start({ "Channels.SetSession": () => channel("a", { name: "changed" }) });
    await startWith("a", { mode: "fresh" } as never);
    expect(view().toast?.text).toBe("The next message begins a new conversation.");
    expect(frameStore.getState().channels.find((c) => c.channel_id === "a")?.name).toBe("changed");
  });
});

describe("what waits for the person", () => {
  it("is gone to one after the other", () => {
    start();
    nextNeed();
    expect(view().toast?.text).toBe("Nothing waits for you.");
    frameStore.setState((f) => ({ channels: f.channels.map((c) => ({ ...c, state: c.channel_id === "demo" ? "idle" : "needs_you" })) }) as never);
    viewStore.setState({ toast: null });
    const seen = [0, 1, 2].map(() => {
      nextNeed();
      return [view().selected, view().toast?.text];
    });
    expect(seen).toEqual([["b", "b: 1 of 2"], ["a", "a: 2 of 2"], ["b", "b: 1 of 2"]]);
  });
});

describe("runs", () => {
  it("a prompt of blanks is none, each other has an id of its own", async () => {
    const loop = start({ "Runs.Prompt": () => ({ run_id: "r", channel_id: "a", state: "running" }) });
    send("a", "  \n ");
    send("a", " one ");
    send("a", "one");
    await settle();
    const sent = loop.called("Runs.Prompt").map((x) => JSON.stringify(x));
    expect(sent.length).toBe(2);
    expect(new Set(sent).size).toBe(2);
  });

  it("are stopped once, however often it is asked", async () => {
    const loop = start({ "Runs.Cancel": () => new Promise((r) => setTimeout(r, 1)) });
    await stopRun("a");
    expect(loop.called("Runs.Cancel")).toEqual([]); // nothing runs, which is said
    expect(view().toast?.failure).toMatchObject({ code: "no_run", remedy: expect.stringContaining("reload") });
    frameStore.setState({ activeRuns: { a: "r1" } });
    await Promise.all([stopRun("a"), stopRun("a")]);
    expect(loop.called("Runs.Cancel")).toEqual([["r1"]]);
    await stopRun("a");
    expect(loop.called("Runs.Cancel").length).toBe(2);
  });

  it("are run again once by a double click, and again later", async () => {
    vi.useFakeTimers();
    const loop = start({ "Runs.Retry": () => null });
    await Promise.all([retryRun("r1"), retryRun("r1")]);
    await retryRun("r1");
    await retryRun("r2");
    expect(loop.called("Runs.Retry")).toEqual([["r1"], ["r2"]]);
    await vi.advanceTimersByTimeAsync(1000);
    await retryRun("r1");
    expect(loop.called("Runs.Retry").length).toBe(3);
    await vi.advanceTimersByTimeAsync(1000);
    vi.useRealTimers();
  });

  it("that wait are put into the order that Loop has", async () => {
    const loop = start({ "Runs.Reorder": () => [{ run_id: "2" }, { run_id: "1" }] });
    timelinesStore.setState({ a: emptyTimeline });
    await reorder("a", ["2", "1"]);
    expect(timelinesStore.getState().a?.queue.map((r) => r.run_id)).toEqual(["2", "1"]);
    loop.given["Runs.Reorder"] = () => Promise.reject(failure("gone"));
    await reorder("a", ["1", "2"]);
    await settle();
    expect([failed(), loop.called("Channels.Timeline").length]).toEqual(["gone", 1]);
  });

  it("are held for an edit or not; letting go of what is gone is fine", async () => {
    const loop = start({ "Runs.Hold": () => null });
    expect(await hold("r")).toBe(true);
    loop.given["Runs.Hold"] = () => Promise.reject(failure("running"));
    expect([await hold("r"), failed()]).toEqual([false, "running"]);
    await expect(release("r")).resolves.toBeUndefined();
  });
});

describe("a queued prompt that is edited", () => {
  it("stays held until its editor is gone, and is let go unless it was saved", async () => {
    vi.useFakeTimers();
    const loop = start({ "Runs.Hold": () => null, "Runs.Release": () => null });
    const [leave, save] = [keepHeld("left"), keepHeld("saved")];
    await vi.advanceTimersByTimeAsync(290_000);
    expect(loop.called("Runs.Hold").length).toBe(4);
    leave(false);
    save(true);
    await vi.advanceTimersByTimeAsync(290_000);
    expect([loop.called("Runs.Hold").length, loop.called("Runs.Release")]).toEqual([4, [["left"]]]);
    vi.useRealTimers();
  });

  it("gives the keyboard to the prompt box, unless the person went elsewhere", () => {
    const focus = vi.fn();
    const button = {};
    const at = (el: object) => Object.assign(document, { activeElement: el, querySelector: () => ({ focus }) });
    select("a");
    for (const [now, id, times] of [[{}, "a", 0], [button, "b", 0], [button, "a", 1], [document.body, "a", 2]] as const) {
      at(button);
      const toPrompt = promptAfter(id);
      at(now);
      toPrompt();
      expect(focus).toHaveBeenCalledTimes(times);
    }
    Object.assign(document, { activeElement: undefined, querySelector: () => null });
  });
});

describe("the page", () => {
  it("keeps its look though Loop cannot", async () => {
    start({ "System.SetTheme": () => Promise.reject(failure("read_only")) });
    await setTheme("light");
    expect([view().theme, failed()]).toEqual(["light", "read_only"]);
    toggleSidebar();
    expect(view().sidebarOpen).toBe(false);
  });
  it("shows a build in its dialog, and its failure there", async () => {
    start({ "System.BuildImage": () => Promise.reject(failure("build")) });
    await buildImage();
    expect([view().dialog, view().toast, view().buildFailure?.code]).toEqual(["image", null, "build"]);
    openDialog("image");
    expect(view().buildFailure).toBeNull();
  });
  it("says when a link could not be opened", async () => {
    start({ "System.OpenURL": () => Promise.reject(failure("invalid_input")) });
    openLink("ftp://x");
    await settle();
    expect(failed()).toBe("invalid_input");
  });
});

describe("leaving", () => {
  it("is the window's alone", () => {
    start();
    expect(canQuit()).toBe(false);
    start({}, "window");
    expect(canQuit()).toBe(true);
  });

  it("happens at once where nothing needs Loop", async () => {
    const loop = start({ "System.Leaving": () => leaving(), "System.Quit": () => null }, "window");
    await quit();
    expect(loop.called("System.Quit").length).toBe(1);
    expect(leavingStore.getState().asking).toBe("");
  });

  it("is asked about where something goes on, or nobody can say", async () => {
    const loop = start({ "System.Leaving": () => leaving({ stays: true }), "System.Quit": () => null }, "window");
    await quit();
    await quit(); // the question is already open
    expect(leavingStore.getState()).toMatchObject({ asking: "quit", facts: { stays: true } });
    expect(loop.called("System.Leaving").length).toBe(1);
    cancel();
    loop.given["System.Leaving"] = () => Promise.reject(failure("internal"));
    await quit();
    expect(leavingStore.getState()).toMatchObject({ asking: "quit", failure: { code: "internal" } });
    expect(loop.called("System.Quit")).toEqual([]);
  });

  it("by the window's own button opens the dialog before it knows why, and says that it is there", async () => {
    const loop = start({ "System.Leaving": () => leaving({ stays: true }), "System.Answered": () => null, "System.Hide": () => null }, "window");
    asked("nonsense");
    expect(leavingStore.getState().asking).toBe("");
    asked("close");
    expect(leavingStore.getState()).toMatchObject({ asking: "close", facts: null });
    await settle();
    expect(leavingStore.getState().facts).toMatchObject({ stays: true });
    asked("close");
    await settle();
    expect(loop.called("System.Answered").length).toBe(1);
    closeWindow();
    expect([leavingStore.getState().asking, loop.called("System.Hide").length]).toEqual(["", 1]);
  });

  it("by the system's menu is asked about once, and answered each time it is chosen", async () => {
    const nothing = () => null;
    const loop = start({ "System.Leaving": () => leaving({ stays: true }), "System.Answered": nothing, "System.Quit": nothing }, "window");
    asked("quit");
    dialogIsThere(); // as the dialog says when it is drawn
    await settle();
    asked("quit");
    await settle();
    expect(leavingStore.getState()).toMatchObject({ asking: "quit", facts: { stays: true } });
    expect([loop.called("System.Answered").length, loop.called("System.Quit").length]).toEqual([2, 0]);
  });

  it("does not open again by an answer that came late", async () => {
    let answer: (l: unknown) => void = () => undefined;
    start({ "System.Leaving": () => new Promise((r) => (answer = r)) }, "window");
    leavingStore.setState({ asking: "quit" });
    const reading = refresh();
    cancel();
    answer(leaving({ stays: true }));
    await reading;
    expect(leavingStore.getState()).toEqual(nothingAsked);
  });
});
