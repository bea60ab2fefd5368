import "../../test/browser";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { TerminalInfo } from "../../api/types";
import { endRename, goInto, requestClose, split } from "../../dock/dock";
import { layoutOf } from "../../dock/layouts";
import { register } from "../../dock/panels";
import type { Panel } from "../../model/dock/layout";
import { focusPanel, groups, startLayout, TIMELINE } from "../../model/dock/layout";
import { dockUi, idleDock, layoutsStore, sessionsStore } from "../../model/dock/store";
import { batchListeners, frameStore, viewStore } from "../../model/stores";
import type { TerminalData } from "../../model/terminals/panel";
import { noSessions } from "../../model/terminals/sessions";
import { startSession } from "../../session/session";
import { failure, pretendLoop } from "../../test/loop";
import { openTerminal, rename, restart, showSession, toggleRecord } from "./actions";
import { terminalPanel } from "./panel";
import { insertFiles } from "./files";
import { handles, panesStore } from "./panes";
import type { PaneInfo } from "./props";

vi.mock("./TerminalPanel", () => ({ TerminalPanel: () => null })); // xterm.js needs a whole browser

register([{ ...terminalPanel, kind: TIMELINE, focus: () => undefined, beside: undefined } as never, terminalPanel]);

const id = (n: number) => n.toString(16).padStart(32, "0");
const info = (n: number, more: Partial<TerminalInfo> = {}): TerminalInfo => ({ session_id: id(n), channel_id: "ch", target: "agent", state: "running", title: `t${n}`, named: false, cols: 80, rows: 24, viewers: 0, created_at: `2026-01-0${n}T00:00:00Z`, ...more }) as TerminalInfo;
const pane = (more: Partial<PaneInfo> = {}): PaneInfo => ({ sessionId: "", title: "", dir: "", state: "live", exit: null, target: "agent", unread: false, bell: false, progress: { state: 0, value: 0 }, recording: "", ...more });
const know = (...list: TerminalInfo[]) => sessionsStore.setState({ known: true, byId: Object.fromEntries(list.map((t) => [t.session_id, t])) });
const here = () => layoutOf("ch");
const front = () => here().panels[focusPanel(here())] as Panel<TerminalData>;
const shown = () => groups(here().root).map((g) => g.panels.length);
const opens = () => terminalPanel.opens?.("ch", "") ?? [];
const face = () => terminalPanel.face(front());

function start(answers: Parameters<typeof pretendLoop>[0] = {}) {
  const loop = pretendLoop({ "Terminals.Close": () => null, ...answers });
  startSession(loop.bridge);
  return loop;
}

beforeEach(() => {
  layoutsStore.setState({ ch: startLayout() }, true);
  sessionsStore.setState(noSessions, true);
  panesStore.setState({}, true);
  handles.clear();
  dockUi.setState(idleDock);
  viewStore.setState({ selected: "ch", toast: null });
});

describe("opening", () => {
  it("asks for what its kind is, and holds the keyboard", () => {
    for (const [kind, want] of [["agent", { target: "agent" }], ["shell", { target: "agent", plain: true }], ["host", { target: "host" }]] as const) {
      openTerminal(kind);
      expect(front().data).toMatchObject({ session: "", ...want, create: { channel_id: "ch", ...want } });
      expect(dockUi.getState().keyboard).toBe(front().id);
    }
    expect(shown()).toEqual([1, 3]);
  });

  it("a split is a shell where the other one is: of its computer, in its folder", () => {
    openTerminal("agent");
    panesStore.setState({ [front().id]: pane({ dir: "/src/deep" }) });
    split("right");
    expect(front().data.create).toEqual({ channel_id: "ch", target: "agent", plain: true, dir: "/src/deep" });
    openTerminal("host");
    split("down");
    expect(front().data.create).toEqual({ channel_id: "ch", target: "host" });
    goInto(TIMELINE);
    split("right");
    expect(front().data).toMatchObject({ target: "agent", plain: true });
  });

  it("what has no pane is offered in the menu, all by name in the palette", () => {
    start();
    know(info(1), info(2, { target: "host" }), info(3, { channel_id: "other" }));
    expect(opens().filter((c) => c.hidden).map((c) => c.id)).toEqual([id(1), id(2)]);
    showSession(info(2, { target: "host" }));
    expect(opens().filter((c) => c.hidden).map((c) => c.id)).toEqual([id(1)]);
    expect(opens().map((c) => c.name)).toEqual(["Open: Claude in a terminal", "Open: Shell in the container", "Open: Shell on this computer", "Go to terminal: t1", "Go to terminal: t2", "Recordings of terminals"]);
    const panel = front().id;
    goInto(TIMELINE);
    showSession(info(2, { target: "host" })); // the session has a pane already
    expect(front().id).toBe(panel);
  });
});

describe("closing", () => {
  const open = (n: number, more: Partial<TerminalInfo> = {}) => {
    know(info(n, more));
    showSession(info(n, more));
    return front().id;
  };

  it("asks only where something may be lost", () => {
    const loop = start();
    for (const [more, pane1, busy, asks] of [
      [{ shell: "prompt" }, {}, null, false], // the shell waits
      [{ shell: "running", command: "tui" }, {}, null, true],
      [{ shell: "running" }, {}, false, false], // the pane sees the marks itself
      [{ shell: "prompt" }, {}, true, true],
      [{}, {}, null, true], // the state is unknown
      [{ cmd: ["claude"] }, {}, false, true], // the program is no shell
      [{ state: "ended" }, {}, null, false],
      [{}, { state: "ended" }, null, false],
      [{}, { state: "failed" }, null, false],
    ] as const) {
      layoutsStore.setState({ ch: startLayout() }, true);
      dockUi.setState(idleDock);
      const p = open(1, more as never);
      panesStore.setState({ [p]: pane(pane1) }, true);
      handles.set(p, { busy: () => busy } as never);
      const before = loop.called("Terminals.Close").length;
      requestClose();
      expect([dockUi.getState().closing === p, shown().length], JSON.stringify([more, pane1, busy])).toEqual(asks ? [true, 2] : [false, 1]);
      expect(loop.called("Terminals.Close").length - before).toBe(asks ? 0 : 1);
    }
  });

  it("of what is not there any more ends nothing", () => {
    const loop = start();
    open(1);
    know();
    requestClose();
    expect([shown(), loop.called("Terminals.Close")]).toEqual([[1], []]);
  });

  it("from elsewhere takes the tab away, in every channel", () => {
    open(1);
    layoutsStore.setState({ other: here() });
    for (const f of batchListeners) f([{ type: "terminal.removed", data: info(1), seq: 1, timestamp: 1 } as never]);
    expect([shown(), Object.keys(layoutOf("other").panels)]).toEqual([[1], [TIMELINE]]);
  });

  it("of a broken connection says why", async () => {
    start({ "Terminals.Close": () => Promise.reject(failure("offline")) });
    open(1, { shell: "prompt" } as never);
    requestClose();
    await new Promise((r) => setTimeout(r));
    expect(viewStore.getState().toast?.failure?.code).toBe("offline");
  });
});

describe("again", () => {
  it("the same program, place and name, in the same tab", () => {
    const loop = start();
    know(info(1, { state: "ended", target: "host", named: true, title: "watch", dir: "/src" } as never));
    showSession(info(1, { target: "host" }));
    const was = front().id;
    restart(was);
    expect(front().id).not.toBe(was);
    expect(front().data).toMatchObject({ session: "", target: "host", create: { channel_id: "ch", target: "host", title: "watch", dir: "/src" } });
    expect([shown(), loop.called("Terminals.Close")]).toEqual([[1, 1], [[id(1)]]]);
  });
  it("also of one that nobody knows any more", () => {
    start();
    showSession(info(1, { plain: true } as never));
    know();
    restart(front().id);
    expect(front().data).toMatchObject({ plain: true, create: { target: "agent", plain: true } });
    restart(TIMELINE);
    expect(shown()).toEqual([1, 1]);
  });
});

describe("its tab", () => {
  it("has the title of the session, else of the pane, else of what was asked for", () => {
    openTerminal("agent");
    expect(face().title).toBe("Terminal");
    panesStore.setState({ [front().id]: pane({ title: "vim" }) });
    expect(face().title).toBe("vim");
    showSession(info(1));
    know(info(1, { title: "build" }));
    expect(face().title).toBe("build");
  });

  it("says how it stands, by what knows best", () => {
    showSession(info(1));
    expect(face().state).toBe("");
    panesStore.setState({ [front().id]: pane() });
    expect(face().state).toBe("running");
    know(info(1, { state: "away" }));
    expect(face().state).toBe("away");
    know(info(1, { state: "ended" }));
    expect(face().state).toBe("ended");
    know();
    expect(face().state).toBe("ended"); // the session is gone, with its container or with Loop
  });

  it("marks output and bells, unless bells are off, and recordings of others", () => {
    showSession(info(1));
    panesStore.setState({ [front().id]: pane({ unread: true, bell: true }) });
    expect(face()).toMatchObject({ unread: true, bell: true, recording: false });
    frameStore.setState({ config: { terminal: { bell: "off" } } as never });
    expect(face().bell).toBe(false);
    frameStore.setState({ config: null });
    know(info(1, { recording: "a.cast" } as never));
    expect(face().recording).toBe(true);
  });

  it("is renamed once it has a session, and says so to Loop", async () => {
    const loop = start({ "Terminals.Rename": (t: never, title: never) => info(1, { title, named: true }) });
    openTerminal("agent");
    expect(terminalPanel.rename?.(front())).toBeNull();
    know(info(1));
    showSession(info(1));
    const r = terminalPanel.rename?.(front());
    expect(r).toMatchObject({ what: "Name of the terminal", name: "t1" });
    await rename(id(1), "watch");
    expect([loop.called("Terminals.Rename"), face().title]).toEqual([[[id(1), "watch"]], "watch"]);
  });

  it("is recorded and stopped", () => {
    const record = vi.fn();
    showSession(info(1));
    toggleRecord(front().id); // the pane is not there yet
    panesStore.setState({ [front().id]: pane() });
    handles.set(front().id, { record } as never);
    toggleRecord(front().id);
    panesStore.setState({ [front().id]: pane({ recording: "a.cast" }) });
    toggleRecord(front().id);
    expect(record.mock.calls).toEqual([[true], [false]]);
    expect(terminalPanel.acts?.(front()).map((c) => c.name)).toEqual(["Type into all visible terminals", "Rename the terminal", "Stop recording the terminal"]);
  });

  it("gets the keyboard back from its name's field only by a key", () => {
    showSession(info(1));
    const shell = front().id;
    goInto(TIMELINE);
    dockUi.setState({ renaming: shell, keyboard: "" });
    endRename(shell, false); // the person clicked elsewhere
    expect([focusPanel(here()), dockUi.getState()]).toMatchObject([TIMELINE, { renaming: "", keyboard: "" }]);
    endRename(shell, true);
    expect([focusPanel(here()), dockUi.getState().keyboard]).toEqual([shell, shell]);
  });

  it("takes the keyboard when files are put into it, not once they have arrived", async () => {
    let arrive: (path: string) => void = () => undefined;
    start({ "Terminals.ContainerPath": () => new Promise((r) => (arrive = r)) });
    const did: string[] = [];
    const taker = { focus: () => did.push("focus"), client: { state: { channelId: "ch", target: "agent" as const } }, term: { paste: (t: string) => did.push(t) } };
    const done = insertFiles(taker, { paths: ["/a"], files: [], text: "" }, () => undefined);
    expect(did).toEqual(["focus"]);
    arrive("/w/a");
    await done;
    expect(did).toEqual(["focus", "/w/a "]);
  });
});
