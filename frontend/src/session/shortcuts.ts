import { useEffect } from "react";
import { leavingStore } from "../model/leaving";
import { viewStore } from "../model/stores";
import { pressed, typesInto } from "../ui/keys";
import { enterRegion, front, regions } from "../ui/layer";
import { canQuit, quit } from "./leave";
import { openFind, openFindBar } from "./find";
import { openDesk, pressNext } from "./desk";
import { focusPrompt, openDialog, openFolder, step, stopRun, toggleSidebar } from "./actions";

/** Moves the focus from one region of the page to the next. */
function nextRegion(back: boolean) {
  const all = regions();
  const at = all.findIndex((el) => el.contains(document.activeElement));
  const el = all[(at + (back ? -1 : 1) + all.length) % all.length];
  if (el) enterRegion(el);
}

/** The page's actions that wait until no dialog or menu is in front. */
const DOES: Record<string, (e: KeyboardEvent) => unknown> = {
  "page.find": () => openFindBar(),
  "page.find-all": () => openFind(),
  "page.open-folder": () => openFolder(),
  "page.stop": () => stopRun(viewStore.getState().selected),
  "page.prompt": () => focusPrompt(),
  "page.sidebar": toggleSidebar,
  "page.settings": () => openDialog("settings"),
  "page.next-waiting": (e) => e.repeat || pressNext(false),
  "page.previous-waiting": (e) => e.repeat || pressNext(true),
  "page.desk": openDesk,
  "page.next-region": () => nextRegion(false),
  "page.previous-region": () => nextRegion(true),
  "page.previous-channel": () => step(-1),
  "page.next-channel": () => step(1),
  "page.shortcuts": () => openDialog("shortcuts"),
};

export function useShortcuts() {
  useEffect(() => {
    function onKey(e: KeyboardEvent) {
      if (e.defaultPrevented || e.isComposing || leavingStore.getState().asking || typesInto(e)) return;
      const does = act(pressed("page", e));
      if (!does) return;
      e.preventDefault();
      void does(e);
    }
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

function act(id: string): ((e: KeyboardEvent) => unknown) | undefined {
  if (id === "page.palette") {
    const open = viewStore.getState().dialog === "palette";
    return open || !front.modal ? () => openDialog(open ? "" : "palette") : undefined;
  }
  if (id === "page.quit") return canQuit() ? quit : undefined;
  return front.busy ? undefined : DOES[id];
}
