import { useEffect } from "react";
import { leavingStore } from "../model/leaving";
import { viewStore } from "../model/stores";
import { isMac, keys, mod, MOD } from "../ui/keys";
import { enterRegion, front, regions } from "../ui/layer";
import { canQuit, quit } from "./leave";
import { openFind, openFindBar } from "./find";
import { pressNext } from "./desk";
import { focusPrompt, openDialog, openFolder, step, stopRun, toggleSidebar } from "./actions";

export const SHORTCUTS: { keys: string; does: string }[] = [
  { keys: keys(MOD, "Shift", "P"), does: "Go to a channel or command" },
  { keys: keys(MOD, "F"), does: "Find in the timeline" },
  { keys: keys(MOD, "Shift", "F"), does: "Find in all that was said and done" },
  { keys: keys(MOD, "O"), does: "Open a project folder" },
  { keys: keys(MOD, "."), does: "Stop the run of this channel" },
  { keys: keys(MOD, "L"), does: "Go to the prompt box" },
  { keys: keys(MOD, "B"), does: "Show or hide the sidebar" },
  { keys: keys(MOD, ","), does: "Settings" },
  { keys: isMac ? "⌥ ↑ ↓" : "Alt ↑ ↓", does: "Previous or next channel" },
  { keys: "F6", does: "Next region: sidebar, timeline, prompt box, terminals, status bar" },
  { keys: "j k", does: "Next or previous item in the timeline" },
  { keys: "Enter", does: "Open or close the item; in the prompt box, send" },
  { keys: "c", does: "Copy the item" },
  { keys: "l", does: "Copy a link to the item" },
  { keys: "o", does: "Show the file that the item is about" },
  { keys: "e", does: "Open that file in your editor" },
  { keys: "b", does: "Back to before the prompt" },
  { keys: "f", does: "New thread that goes on from the agent's message" },
  { keys: "r", does: "At the end of a run: review what it changed" },
  { keys: "F8", does: "Next call, question or channel that waits for you; with Shift the one before" },
  { keys: "F8 F8", does: "The desk: all channels, and the queue of what waits" },
  { keys: "Esc", does: "In the card of a held call: deny it once. Enter alone never answers" },
  { keys: keys(MOD, "Enter"), does: "In the card of a held call: allow it once" },
  { keys: "r", does: "In the card of a held call: show the rule that an answer would store" },
  { keys: keys(MOD, "Enter"), does: "In the prompt box: stop the run and send at once" },
  { keys: "Shift Enter", does: "New line in the prompt box" },
  { keys: keys("Alt", "A"), does: "In the prompt box: attach files; pictures go along as pictures" },
  { keys: keys("Alt", "P"), does: "In the prompt box: the model" },
  { keys: keys("Alt", "E"), does: "In the prompt box: the effort" },
  { keys: keys("Alt", "M"), does: "In the prompt box: plan first, or not" },
  { keys: keys("Alt", "N"), does: "In the prompt box: begin a new conversation, or not" },
  { keys: keys("Ctrl", "R"), does: "In the prompt box: search the earlier prompts of this channel" },
  { keys: "@ /", does: "In the prompt box: name a file; at the start, a command" },
  { keys: "↑ ↓", does: "At the edges of the prompt box: earlier and later prompts" },
];

/** The key to quit in the window. In a terminal, Ctrl Q goes to the program. */
export const QUIT_KEYS = keys(MOD, "Q");

/** Moves the focus from one region of the page to the next. */
function nextRegion(back: boolean) {
  const all = regions();
  const at = all.findIndex((el) => el.contains(document.activeElement));
  const el = all[(at + (back ? -1 : 1) + all.length) % all.length];
  if (el) enterRegion(el);
}

export function useShortcuts() {
  useEffect(() => {
    function onKey(e: KeyboardEvent) {
      if (e.defaultPrevented || e.isComposing) return;
      const { dialog, selected } = viewStore.getState();
      if (leavingStore.getState().asking) return;
      const key = e.key.toLowerCase();
      const run = (f: () => void) => {
        e.preventDefault();
        f();
      };
      if (mod(e) && !e.altKey) {
        if ((e.shiftKey && key === "p") || (!e.shiftKey && key === "k")) {
          if (dialog === "palette" || !front.modal) return run(() => openDialog(dialog === "palette" ? "" : "palette"));
          return;
        }
        if (e.shiftKey && key === "f" && !front.busy) return run(() => openFind());
        if (key === "q" && canQuit()) return run(() => void quit());
        if (front.busy || e.shiftKey) return;
        if (key === "f") return run(openFindBar);
        if (key === "o") return run(() => void openFolder());
        if (key === ".") return run(() => void stopRun(selected));
        if (key === "l") return run(focusPrompt);
        if (key === "b") return run(toggleSidebar);
        if (key === ",") return run(() => openDialog("settings"));
        return;
      }
      if (front.busy) return;
      if (e.key === "F8") return run(() => e.repeat || pressNext(e.shiftKey));
      if (e.key === "F6") return run(() => nextRegion(e.shiftKey));
      if (e.altKey && !e.ctrlKey && !e.metaKey && !e.shiftKey && (e.key === "ArrowUp" || e.key === "ArrowDown")) {
        return run(() => step(e.key === "ArrowUp" ? -1 : 1));
      }
      if (e.key === "?" && !editing(e.target)) return run(() => openDialog("shortcuts"));
    }
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

function editing(t: EventTarget | null): boolean {
  return t instanceof HTMLElement && (t.isContentEditable || t.matches("input,textarea,select"));
}
