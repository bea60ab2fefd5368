import { Disc, Film, Monitor, Pencil, RadioTower, Sparkles, SquareTerminal } from "lucide-react";
import type { TerminalInfo } from "../../api/types";
import { beginRename, toggleBroadcast } from "../../dock/dock";
import { layoutOf } from "../../dock/layouts";
import type { PanelCommand, PanelKind } from "../../dock/panels";
import type { GroupID, Panel } from "../../model/dock/layout";
import { panelWhere } from "../../model/dock/layout";
import { dockUi, sessionsStore } from "../../model/dock/store";
import { viewStore } from "../../model/stores";
import type { TerminalData } from "../../model/terminals/panel";
import { TERMINAL, terminalCodec } from "../../model/terminals/panel";
import type { TerminalKind } from "../../model/terminals/sessions";
import { KIND_NAMES, sessionsOf } from "../../model/terminals/sessions";
import { sessionDetail, sessionTitle } from "../../model/terminals/titles";
import { visible } from "../../model/text";
import { keyText, PLATFORM, pressed } from "../../ui/keys";
import { SafeText } from "../../ui/SafeText";
import { closeTerminal, focusTerminal, isTerminal, openTerminal, rename, shellBeside, showSession, toggleRecord } from "./actions";
import { terminalFace } from "./face";
import { handles, panesStore } from "./panes";
import { TerminalPanel } from "./TerminalPanel";
import "./castscreen";

const KIND_ICONS = { agent: Sparkles, shell: SquareTerminal, host: Monitor };

function iconOf(kind: TerminalKind, size = 14) {
  const I = KIND_ICONS[kind];
  return <I size={size} aria-hidden className={kind === "host" ? "host" : ""} />;
}

const kindOfSession = (t: TerminalInfo): TerminalKind => (t.target === "host" ? "host" : t.plain || t.cmd?.length ? "shell" : "agent");

/** Commands for new terminals, for sessions without a pane, and for the recordings. */
function opens(channel: string, group: GroupID): PanelCommand[] {
  const kinds = (["agent", "shell", "host"] as const).map((kind): PanelCommand => ({
    id: kind, name: `Open: ${KIND_NAMES[kind]}`, label: KIND_NAMES[kind], icon: iconOf(kind), hint: kind === "agent" ? keyText("panes.new") : "", run: () => openTerminal(kind, group),
  }));
  const sessions = sessionsOf(sessionsStore.getState(), channel).map((t): PanelCommand => {
    const shown = panelWhere(layoutOf(channel), (p) => isTerminal(p) && p.data.session === t.session_id);
    return {
      id: t.session_id, name: `Go to terminal: ${visible(sessionTitle(t))}`, icon: iconOf(kindOfSession(t)), run: () => showSession(t, group),
      ...(shown ? {} : { hidden: true, label: <HiddenLabel t={t} /> }),
    };
  });
  const recordings: PanelCommand = { id: "recordings", name: "Recordings of terminals", label: "Recordings", apart: true, icon: <Film size={14} aria-hidden />, run: () => viewStore.setState({ dialog: "recordings" }) };
  return [...kinds, ...sessions, recordings];
}

function HiddenLabel({ t }: { t: TerminalInfo }) {
  return (
    <>
      <span className="ellipsis" title={visible(sessionDetail(t))}><SafeText text={sessionTitle(t)} /></span>
      <span className="menu-word">{t.state === "running" ? (t.shell === "prompt" ? "waits" : "running") : t.state}</span>
    </>
  );
}

function acts({ id, data }: Panel<TerminalData>): PanelCommand[] {
  const pane = panesStore.getState()[id];
  const recording = pane?.recording || sessionsStore.getState().byId[data.session]?.recording;
  const typing = dockUi.getState().broadcast;
  return [
    { id: "broadcast", name: typing ? "Type into one terminal again" : "Type into all visible terminals", label: typing ? "Type into one again" : "Type into all visible", icon: <RadioTower size={14} aria-hidden />, hint: keyText("panes.broadcast"), run: toggleBroadcast },
    { id: "rename", name: "Rename the terminal", label: "Rename", icon: <Pencil size={14} aria-hidden />, hint: "F2", disabled: !data.session, run: () => beginRename(id) },
    { id: "record", name: recording ? "Stop recording the terminal" : "Record the terminal", label: recording ? "Stop recording" : "Record", icon: <Disc size={14} aria-hidden />, disabled: !recording && pane?.state !== "live", run: () => toggleRecord(id) },
  ];
}

export const terminalPanel: PanelKind<TerminalData> = {
  ...terminalCodec,
  kind: TERMINAL, noun: "terminal", enters: true,
  render: ({ channelId, panel }) => <TerminalPanel channelId={channelId} panel={panel} />,
  face: terminalFace,
  icon: ({ data }, size) => iconOf(data.target === "host" ? "host" : data.plain ? "shell" : "agent", size),
  keys: {
    place: "terminal",
    rows: () => (PLATFORM === "windows" ? [{ keys: "Ctrl C", does: "Copy the selection" }] : []),
    press(e) {
      if (pressed("panes", e) !== "panes.new") return false;
      openTerminal("agent");
      return true;
    },
  },
  opens, acts,
  focus: focusTerminal,
  close: closeTerminal,
  beside: shellBeside,
  rename({ id, data }) {
    const info = sessionsStore.getState().byId[data.session];
    if (!data.session) return null;
    return { what: "Name of the terminal", name: info ? sessionTitle(info) : (panesStore.getState()[id]?.title ?? ""), placeholder: "The program's own title", save: (name) => void rename(data.session, name) };
  },
  type: ({ id }, data) => handles.get(id)?.input(data),
  onHost: ({ data }) => data.target === "host",
};
