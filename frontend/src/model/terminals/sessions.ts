// The terminal sessions of all channels, kept up to date by events.
import type { ChannelID, LoopEvent } from "../../api/types";
import type { TerminalCreate, TerminalID, TerminalInfo } from "../../api/types";

export type Sessions = {
  known: boolean; // the list was read at least once
  byId: Record<TerminalID, TerminalInfo>;
};

export const noSessions: Sessions = { known: false, byId: {} };

export function fromList(list: TerminalInfo[]): Sessions {
  const byId: Record<TerminalID, TerminalInfo> = {};
  for (const t of list) if (t.session_id) byId[t.session_id] = t;
  return { known: true, byId };
}

export function applyTerminalEvents(s: Sessions, batch: LoopEvent[]): Sessions {
  let byId = s.byId;
  for (const ev of batch) {
    if (ev.type !== "terminal.created" && ev.type !== "terminal.changed" && ev.type !== "terminal.removed") continue;
    const t = ev.data;
    if (!t?.session_id) continue;
    if (ev.type === "terminal.removed") {
      const { [t.session_id]: _gone, ...rest } = byId;
      byId = rest;
    } else byId = { ...byId, [t.session_id]: t };
  }
  return byId === s.byId ? s : { ...s, byId };
}

/** The sessions that these events say are gone for good. */
export function removedSessions(batch: LoopEvent[]): Set<TerminalID> {
  const out = new Set<TerminalID>();
  for (const ev of batch) {
    if (ev.type === "terminal.removed" && ev.data?.session_id) out.add(ev.data.session_id);
  }
  return out;
}

/** A channel's sessions, oldest first, so that a list does not jump. */
export function sessionsOf(s: Sessions, channel: ChannelID): TerminalInfo[] {
  return Object.values(s.byId).filter((t) => t.channel_id === channel).sort((a, b) => a.created_at.localeCompare(b.created_at) || a.session_id.localeCompare(b.session_id));
}

export type TerminalKind = "agent" | "shell" | "host";

export const KIND_NAMES: Record<TerminalKind, string> = {
  agent: "Claude in a terminal", shell: "Shell in the container", host: "Shell on this computer",
};

export function createOf(kind: TerminalKind, channel: ChannelID): TerminalCreate {
  switch (kind) {
    case "agent": return { channel_id: channel, target: "agent" };
    case "shell": return { channel_id: channel, target: "agent", plain: true };
    case "host": return { channel_id: channel, target: "host" };
  }
}

/** Whether nothing is lost when the session ends, because its shell waits for a command. null: unknown. */
export function isIdle(t: Pick<TerminalInfo, "cmd" | "shell"> | undefined, busy: boolean | null): boolean | null {
  if (!t || t.cmd?.length) return t ? false : null;
  if (busy !== null) return !busy; // the pane sees the marks itself
  return t.shell ? t.shell === "prompt" : null;
}

/** The values that start an ended session again. */
export function againOf(t: Pick<TerminalInfo, "channel_id" | "target" | "cmd" | "named" | "title" | "dir">, plain: boolean): TerminalCreate {
  return {
    channel_id: t.channel_id, target: t.target,
    ...(t.cmd?.length ? { cmd: t.cmd } : plain && t.target === "agent" ? { plain: true } : {}),
    ...(t.named ? { title: t.title } : {}),
    ...(t.dir ? { dir: t.dir } : {}),
  };
}
