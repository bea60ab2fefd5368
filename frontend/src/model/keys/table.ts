// All keys of the page that a person can change: one row for each action, with the place
// where its key counts and the keys that it has at first. backend/config/keyactions.go has
// the same names; a test compares them.
import type { Platform } from "./chord";

export type Place =
  | "page" | "panes" | "tree" | "prompt" | "queue" | "timeline" | "terminal" | "desk" | "review" | "rewind" | "files" | "workspace" | "containers" | "rules" | "decisions" | "playback" | "browser";

export const PLACES: Record<Place, string> = {
  page: "Everywhere", panes: "Panes", tree: "In the tree of projects", prompt: "In the prompt box", queue: "On a waiting prompt", timeline: "On an item of the timeline", terminal: "In a terminal", desk: "On the desk",
  review: "In the review", rewind: "In “Back to here”", files: "In the files", workspace: "In copy and original", containers: "In the containers",
  rules: "In the rules", decisions: "In the decisions", playback: "In the playback", browser: "In the browser",
};

/** keys: with Mod for Cmd on a Mac and Ctrl elsewhere. mac, windows: where they are others there. */
export type Action = { id: string; place: Place; does: string; keys: string[]; mac?: string[]; windows?: string[] };

type Row = [name: string, does: string, keys: string[], own?: { mac?: string[]; windows?: string[] }];
const at = (place: Place, rows: Row[]): Action[] => rows.map(([name, does, keys, own]) => ({ id: `${place}.${name}`, place, does, keys, ...own }));

export const ACTIONS: Action[] = [
  ...at("page", [
    ["palette", "Go to a channel or command", ["Mod+Shift+P", "Mod+K"]],
    ["find", "Find in the timeline", ["Mod+F"]],
    ["find-all", "Find in all that was said and done", ["Mod+Shift+F"]],
    ["open-folder", "Open a project folder", ["Mod+O"]],
    ["stop", "Stop the run of this channel", ["Mod+."]],
    ["prompt", "Go to the prompt box", ["Mod+L"]],
    ["sidebar", "Show or hide the sidebar", ["Mod+B"]],
    ["settings", "Settings", ["Mod+,"]],
    ["previous-channel", "Previous channel", ["Alt+Up"]],
    ["next-channel", "Next channel", ["Alt+Down"]],
    ["next-region", "Next region: sidebar, timeline, prompt box, terminals, status bar", ["F6"]],
    ["previous-region", "Previous region", ["Shift+F6"]],
    ["next-waiting", "Next call, question or channel that waits for you; twice: the desk", ["F8"]],
    ["previous-waiting", "The one before that waits for you", ["Shift+F8"]],
    ["desk", "The desk: all channels, and the queue of what waits", []],
    ["shortcuts", "Keyboard shortcuts", ["?"]],
    ["quit", "Quit Loop", ["Mod+Q", "Mod+Shift+Q"]],
  ]),
  ...at("panes", [
    ["left", "Go to the pane on the left", ["Alt+Shift+Left"], { mac: ["Cmd+Alt+Left"] }],
    ["right", "Go to the pane on the right", ["Alt+Shift+Right"], { mac: ["Cmd+Alt+Right"] }],
    ["up", "Go to the pane above", ["Alt+Shift+Up"], { mac: ["Cmd+Alt+Up"] }],
    ["down", "Go to the pane below", ["Alt+Shift+Down"], { mac: ["Cmd+Alt+Down"] }],
    ["arrange", "Arrange: then arrows resize, Shift and arrows move the tab", ["Mod+Shift+L"]],
    ["zoom", "Show the pane alone, or all again", ["Mod+Shift+X"], { mac: ["Cmd+Shift+Enter"] }],
    ["broadcast", "Type into all visible terminals, or only one again", ["Mod+Shift+B"], { mac: ["Cmd+Shift+I"] }],
    ["previous-tab", "Previous tab", ["Ctrl+PageUp"], { mac: ["Cmd+Shift+["] }],
    ["next-tab", "Next tab", ["Ctrl+PageDown"], { mac: ["Cmd+Shift+]"] }],
    ["split-right", "Split right", ["Ctrl+Shift+D"], { mac: ["Cmd+D"] }],
    ["split-down", "Split down", ["Ctrl+Shift+E"], { mac: ["Cmd+Shift+D"] }],
    ["new", "New terminal", ["Ctrl+Shift+T"], { mac: ["Cmd+T"] }],
    ["close", "Close the pane", ["Ctrl+Shift+W"], { mac: ["Cmd+W"] }],
  ]),
  ...at("tree", [
    ["rename", "Rename the channel", ["F2"]],
    ["remove", "Remove the channel", ["Delete"]],
  ]),
  ...at("prompt", [
    ["attach", "Attach files; pictures go along as pictures", ["Alt+A"]],
    ["model", "The model", ["Alt+P"]],
    ["effort", "The effort", ["Alt+E"]],
    ["plan", "Plan first, or not", ["Alt+M"]],
    ["fresh", "Begin a new conversation, or not", ["Alt+N"]],
    ["history", "Search the earlier prompts of this channel", ["Ctrl+R"]],
  ]),
  ...at("queue", [
    ["earlier", "Move the prompt to an earlier place", ["Alt+Up"]],
    ["later", "Move the prompt to a later place", ["Alt+Down"]],
  ]),
  ...at("timeline", [
    ["next", "Next item", ["J"]],
    ["previous", "Previous item", ["K"]],
    ["copy", "Copy the item", ["C"]],
    ["link", "Copy a link to the item", ["L"]],
    ["file", "Show the file that the item is about", ["O"]],
    ["edit", "Open that file in your editor", ["E"]],
    ["back", "Back to before the prompt", ["B"]],
    ["fork", "New thread that goes on from the agent's message", ["F"]],
    ["review", "At the end of a run: review what it changed", ["R"]],
    ["all-lines", "Show all lines of the output, or fewer again", ["A"]],
  ]),
  ...at("terminal", [
    ["copy", "Copy", ["Ctrl+Shift+C", "Ctrl+Insert"], { mac: ["Cmd+C"] }],
    ["paste", "Paste", ["Ctrl+Shift+V", "Shift+Insert"], { mac: ["Cmd+V"], windows: ["Ctrl+V", "Ctrl+Shift+V", "Shift+Insert"] }],
    ["find", "Find", ["Ctrl+Shift+F"], { mac: ["Cmd+F"] }],
    ["zoom-in", "Larger text", ["Mod++", "Mod+="]],
    ["zoom-out", "Smaller text", ["Mod+-"]],
    ["zoom-reset", "Normal text", ["Mod+0"]],
    ["clear", "Clear", ["Ctrl+Shift+K"], { mac: ["Cmd+K"] }],
    ["page-up", "Page up", ["Shift+PageUp"]],
    ["page-down", "Page down", ["Shift+PageDown"]],
    ["scroll-top", "To the beginning", ["Shift+Home"], { mac: ["Cmd+Home"] }],
    ["scroll-bottom", "To the end", ["Shift+End"], { mac: ["Cmd+End"] }],
    ["previous-command", "Previous command", ["Ctrl+Shift+Up"], { mac: ["Cmd+Up"] }],
    ["next-command", "Next command", ["Ctrl+Shift+Down"], { mac: ["Cmd+Down"] }],
    ["newline", "New line in the agent's prompt", ["Shift+Enter"]],
    ["tab-moves", "Let Tab move the focus, or not", ["Ctrl+Shift+M"]],
  ]),
  ...at("desk", [
    ["next", "Frame the next card", ["J"]],
    ["previous", "Frame the card before", ["K"]],
    ["review", "Review what changed in the channel", ["R"]],
    ["seen", "Mark the channel as seen", ["S"]],
    ["stop", "Stop the run of the channel", ["."]],
  ]),
  ...at("review", [
    ["next", "Next hunk", ["N"]],
    ["previous", "Previous hunk", ["P"]],
    ["accept", "Accept the hunk, or take that back", ["A"]],
    ["reject", "Reject the hunk: it is taken out of the file", ["X"]],
    ["undo", "Put back what was rejected last", ["Mod+Z"]],
    ["accept-file", "Accept the file", ["Shift+A"]],
    ["comment", "Comment on the line", ["C"]],
    ["open", "Open the file", ["O"]],
    ["edit", "Open it in your editor, at the line", ["E"]],
    ["read", "Read again", ["F5"]],
  ]),
  ...at("rewind", [["keep", "Keep your edit of the file", ["K"]]]),
  ...at("files", [
    ["filter", "Filter by name", ["/"]],
    ["ask", "In a file: ask about it, or about the chosen lines", ["A"]],
    ["edit", "In a file: open it in your editor, at the chosen line", ["E"]],
    ["above", "The folder above", ["Backspace"]],
    ["read", "Read again", ["F5"]],
  ]),
  ...at("workspace", [
    ["promote", "Promote the ticked files to the original", ["Alt+Left"]],
    ["pull", "Pull the ticked files into the copy", ["Alt+Right"]],
    ["filter", "Filter by path", ["/"]],
    ["compare", "Compare again", ["F5"]],
  ]),
  ...at("containers", [
    ["recreate", "Recreate it", ["R"]],
    ["stop", "Stop it", ["S"]],
    ["remove", "Remove it", ["Delete"]],
    ["copy", "Copy a command", ["C"]],
    ["sort", "Sort by the next column", ["O"]],
    ["turn", "Sort the other way round", ["Shift+O"]],
    ["filter", "Filter", ["/"]],
    ["log", "Search its log", ["Mod+F"]],
  ]),
  ...at("rules", [
    ["next", "Next rule", ["J"]],
    ["previous", "Previous rule", ["K"]],
    ["up", "Move the rule up", ["Alt+Up"]],
    ["down", "Move the rule down", ["Alt+Down"]],
    ["new", "New rule", ["N"]],
    ["turn", "Turn the rule off or on", ["Space"]],
    ["test", "Test the rule", ["T"]],
    ["delete", "Delete the rule", ["Delete"]],
    ["undo", "Undo the last change", ["U"]],
    ["filter", "Filter", ["/"]],
  ]),
  ...at("decisions", [
    ["next", "Next entry", ["J"]],
    ["previous", "Previous entry", ["K"]],
    ["timeline", "Show it in the timeline", ["T"]],
    ["rule", "Write a rule of it", ["M"]],
    ["copy", "Copy the entry", ["C"]],
    ["find", "Find", ["/"]],
  ]),
  ...at("playback", [
    ["play", "Play or pause", ["Space"]],
    ["turn-before", "Turn before", ["["]],
    ["turn-after", "Turn after", ["]"]],
    ["decision", "Next decision", ["D"]],
    ["copy", "Copy a link to the moment", ["C"]],
  ]),
  ...at("browser", [
    ["baton", "Take over, or give back", ["Mod+Shift+G"]],
    ["pick", "Pick an element for the prompt", ["Mod+Shift+S"]],
    ["find", "Find in the page", ["Mod+F"]],
    ["reload", "Load the page again", ["F5", "Mod+R"]],
    ["back", "Go back", ["Alt+Left"], { mac: ["Cmd+["] }],
    ["forward", "Go forward", ["Alt+Right"], { mac: ["Cmd+]"] }],
    ["larger", "Larger", ["Mod++", "Mod+="]],
    ["smaller", "Smaller", ["Mod+-"]],
    ["as-is", "As it is", ["Mod+0"]],
  ]),
];

export const defaultsOf = (a: Action, platform: Platform): string[] => (platform === "mac" ? a.mac : platform === "windows" ? a.windows : undefined) ?? a.keys;

/** Keys that stay as they are, with the reason. */
export type Fixed = { place: Place | "answers"; keys: string[]; does: string };
export const ANSWERS_WHY = "Answers keep their keys. A held call is allowed by Mod and Enter alone, and a number only chooses, or says no, so that no key that was meant for something else can allow.";
export const FIXED: Fixed[] = [
  { place: "answers", keys: ["Mod+Enter"], does: "In the card of a held call: allow it once. Enter alone never answers" },
  { place: "answers", keys: ["Escape"], does: "In the card of a held call: deny it once" },
  { place: "answers", keys: ["R"], does: "In the card of a held call: show the rule that an answer would store" },
  { place: "answers", keys: ["1", "9"], does: "In a card: choose an answer. On the desk 1 denies, and on a plan 1 declines at once" },
  { place: "answers", keys: ["Mod+Enter"], does: "Send an answer, go back, recreate: what the card or panel asks for" },
  { place: "prompt", keys: ["Enter"], does: "Send" },
  { place: "prompt", keys: ["Shift+Enter"], does: "New line" },
  { place: "prompt", keys: ["Mod+Enter"], does: "Stop the run and send at once" },
  { place: "prompt", keys: ["@", "/"], does: "Name a file; at the start, a command" },
  { place: "prompt", keys: ["Up", "Down"], does: "At the edges: earlier and later prompts" },
  { place: "timeline", keys: ["Enter"], does: "Open or close the item" },
  { place: "panes", keys: ["Mod+1", "Mod+9"], does: "Tab by its number, except in a terminal where Ctrl and digits are the program's" },
  { place: "review", keys: ["Mod+Shift+Enter"], does: "Send the comments as one prompt" },
  { place: "files", keys: ["Shift+Up", "Shift+Down"], does: "In a file: choose more lines; a click on a number chooses one" },
];
