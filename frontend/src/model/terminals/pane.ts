// The state of one pane around its screen, as a state machine without a DOM. Every event
// gives the next state and the effects to carry out. The connection to the session is
// another machine (protocol.ts).
import type { ClientState, PaneState } from "./client";
import type { FileRef, LinkHint } from "./filelinks";
import { parseOsc52 } from "./osc52";
import { preparePaste } from "./paste";

export type Progress = { state: 0 | 1 | 2 | 3 | 4; value: number }; // as OSC 9;4 says: 0 none, 1 value, 2 error, 3 unknown, 4 paused

export type Pane = {
  client: ClientState | null;
  drawn: boolean; // the first picture is on the screen
  loading: boolean; // a snapshot is being drawn: bells and titles in it are old
  title: string;
  dir: string;
  bell: boolean; // a bell that the person has not seen yet
  ringing: boolean; // the bell's flash is on
  unseen: boolean; // output came while the pane was behind another
  progress: Progress;
  behind: boolean; // output came below the visible lines
  link: LinkHint;
  notice: { id: number; text: string } | null;
  searching: boolean;
  searches: number; // how often the search was opened
  paste: string | null; // text that waits for the person's answer
  file: FileRef | null; // the file that is shown
  tabMoves: boolean;
  visible: boolean; // the layout wants the pane visible
  seen: boolean; // the pane has a place on the screen
  leaked: boolean; // at the present prompt, the reports that a killed program had left on were ended
  unsent: boolean; // something was typed that the program did not get, and it is not back yet
  broken: number; // time of the last lost output, in ms
};

export type PaneEvent =
  | { type: "client"; client: ClientState }
  | { type: "snapshot" } // a snapshot begins
  | { type: "drawn"; running: boolean } // the snapshot is whole; running: a command runs
  | { type: "prompt" | "command" } // the shell's marks say so
  | { type: "leak" } // a killed program's reports were still on at the prompt
  | { type: "title" | "dir"; text: string }
  | { type: "bell"; attended: boolean; sound: boolean }
  | { type: "bell-over" | "attended" | "output" | "answered" | "tab-moves" | "search" }
  | { type: "progress"; progress: Progress }
  | { type: "behind"; behind: boolean }
  | { type: "link"; link: LinkHint }
  | { type: "file"; file: FileRef | null }
  | { type: "search-closed" }
  | { type: "clipboard"; data: string } // OSC 52
  | { type: "paste"; text: string; bracketed: boolean; sure: boolean }
  | { type: "notice"; text: string }
  | { type: "notice-over"; id: number }
  | { type: "box"; seen: boolean }
  | { type: "show"; visible: boolean } // the layout shows or hides the pane
  | { type: "sight"; hidden: boolean } // the window comes into sight or leaves it
  | { type: "away" }
  | { type: "unsent"; text?: string } // what was typed could not be sent; text: Loop's reason
  | { type: "lost"; at: number }; // an error of the screen lost output

export type PaneEffect =
  | { do: "later"; ms: number; event: PaneEvent } // a new event replaces a waiting one of its type
  | { do: "never"; event: PaneEvent["type"] } // cancels a waiting event
  | { do: "keep" } // keeps marks and scroll place, because a snapshot replaces the picture
  | { do: "recover" } // ends reports that a killed program left on, and sends "leak" if there were any
  | { do: "stop-reports" }
  | { do: "show"; visible: boolean } // tells the session whether the pane is visible
  | { do: "resync" }
  | { do: "beep" }
  | { do: "insert"; text: string } // sends text as a paste
  | { do: "copied"; text: string; primary: boolean };

export const NOTICE_MS = 5000;
const READ_MS = 70; // reading time for one character of a long notice
export const BELL_MS = 180;
export const AWAY_MS = 1500; // a window out of sight for longer counts as away: its timers are too slow to keep up
export const RESYNC_MS = 5000; // the least time between two

export function startPane(visible: boolean): Pane {
  return {
    client: null, drawn: false, loading: true, title: "", dir: "", bell: false, ringing: false, unseen: false, progress: { state: 0, value: 0 },
    behind: false, link: null, notice: null, searching: false, searches: 0, paste: null, file: null, tabMoves: false,
    visible, seen: true, leaked: false, unsent: false, broken: -Infinity,
  };
}

type Step = [Pane, PaneEffect[]];

export function paneStep(p: Pane, e: PaneEvent): Step {
  switch (e.type) {
    case "client": {
      const { title, state } = e.client;
      const next = { ...p, client: e.client, title: title && title !== p.client?.title ? title : p.title };
      if (p.unsent && state === "live" && p.client?.state !== "live") return said({ ...next, unsent: false }, MEANWHILE); // to who typed without looking
      return [state === "ended" || state === "failed" ? { ...next, unsent: false } : next, []];
    }
    case "snapshot":
      return p.loading ? [p, []] : [{ ...p, loading: true }, [{ do: "keep" }]];
    case "drawn":
      // The session's snapshot turns a killed program's reports on again. At the same prompt they must stay off.
      return [{ ...p, loading: false, drawn: true }, p.leaked && !e.running ? [{ do: "stop-reports" }] : []];
    case "prompt":
      return [p, p.loading ? [] : [{ do: "recover" }]];
    case "leak":
      return [{ ...p, leaked: true }, []];
    case "command":
      return [p.loading ? p : { ...p, leaked: false }, []];
    case "title":
      return [p.loading ? p : { ...p, title: e.text }, []];
    case "dir":
      return [{ ...p, dir: e.text }, []];
    case "bell":
      if (p.loading) return [p, []];
      return [{ ...p, ringing: true, bell: !e.attended }, [{ do: "later", ms: BELL_MS, event: { type: "bell-over" } }, ...(e.sound ? [{ do: "beep" } as const] : [])]];
    case "bell-over":
      return [{ ...p, ringing: false }, []];
    case "attended":
      return [p.bell ? { ...p, bell: false } : p, []];
    case "output":
      return [p.seen || p.loading || p.unseen ? p : { ...p, unseen: true }, []];
    case "progress":
      return [{ ...p, progress: e.progress }, []];
    case "behind":
      return [p.behind === e.behind ? p : { ...p, behind: e.behind }, []];
    case "link":
      return [{ ...p, link: e.link }, []];
    case "file":
      return [{ ...p, file: e.file }, []];
    case "search":
      return [{ ...p, searching: true, searches: p.searches + 1 }, []];
    case "search-closed":
      return [{ ...p, searching: false }, []];
    case "tab-moves":
      return said({ ...p, tabMoves: !p.tabMoves }, p.tabMoves ? "Tab goes to the program again." : "Tab moves the focus now.");
    case "clipboard":
      return p.loading ? [p, []] : clipboard(p, e.data); // a snapshot repeats old wishes
    case "paste":
      return paste(p, e.text, e.bracketed, e.sure);
    case "answered":
      return [{ ...p, paste: null }, []];
    case "notice":
      return said(p, e.text);
    case "notice-over":
      return [p.notice?.id === e.id ? { ...p, notice: null } : p, []];
    case "box":
      return [p.seen === e.seen ? p : { ...p, seen: e.seen, unseen: p.unseen && !e.seen }, []];
    case "show":
      return [{ ...p, visible: e.visible }, [{ do: "show", visible: e.visible }]];
    case "sight":
      return [p, e.hidden ? [{ do: "later", ms: AWAY_MS, event: { type: "away" } }] : [{ do: "never", event: "away" }, { do: "show", visible: p.visible }]];
    case "away":
      return [p, [{ do: "show", visible: false }]];
    case "unsent":
      return unsent(p, e.text);
    case "lost":
      return p.loading || e.at - p.broken < RESYNC_MS ? [p, []] : [{ ...p, broken: e.at }, [{ do: "resync" }]];
  }
}

function said(p: Pane, text: string): Step {
  const id = (p.notice?.id ?? 0) + 1;
  return [{ ...p, notice: { id, text } }, [{ do: "later", ms: Math.max(NOTICE_MS, text.length * READ_MS), event: { type: "notice-over", id } }]];
}

const UNSENT: Partial<Record<PaneState, string>> = {
  connecting: "Not sent: the terminal is not open yet.", reconnecting: "Not sent: Loop does not answer.", away: "Not sent: the container cannot be reached now.",
  live: "Not sent: the terminal is not connected.",
};
const MEANWHILE = "What you typed meanwhile was not sent. Type it again.";

/** Says once, while it is read, that keys go nowhere. An ended or failed terminal says so itself. */
function unsent(p: Pane, reason?: string): Step {
  const text = reason ?? UNSENT[p.client?.state ?? "connecting"];
  if (!text) return [p, []];
  const known = p.notice?.text === text ? { ...p, notice: { ...p.notice, id: p.notice.id - 1 } } : p; // the same words stay, for longer
  // A terminal that is there refused it with a reason. What is typed from now on may arrive.
  const refused = reason !== undefined && p.client?.state === "live";
  return said({ ...known, unsent: p.unsent || !refused }, text);
}

function clipboard(p: Pane, data: string): Step {
  const w = parseOsc52(data);
  switch (w.kind) {
    case "write": {
      if (w.text === "") return [p, []];
      const [next, effects] = said(p, `A program copied ${w.text.length} characters.`);
      return [next, [{ do: "copied", text: w.text, primary: w.primary }, ...effects]];
    }
    case "too-long":
      return said(p, "A program wanted to put more than 100 KB on the clipboard. Loop refused it.");
    case "read":
      return said(p, "A program wanted to read the clipboard. Loop refused it.");
    default:
      return [p, []];
  }
}

function paste(p: Pane, text: string, bracketed: boolean, sure: boolean): Step {
  const made = preparePaste(text, bracketed);
  if (made.tooLong) return said(p, "The text is too much for one paste. Put it into a file.");
  if (made.ask && !sure) return [{ ...p, paste: made.text }, []];
  const insert: PaneEffect[] = made.text ? [{ do: "insert", text: made.text }] : [];
  if (made.removed === 0) return [p, insert];
  const [next, effects] = said(p, "Control characters were left out of the pasted text.");
  return [next, [...insert, ...effects]];
}
