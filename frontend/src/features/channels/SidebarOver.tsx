import { useEffect, useRef } from "react";
import { useStore } from "zustand";
import { viewStore } from "../../model/stores";
import { focusPrompt } from "../../session/actions";
import { Sidebar } from "./Sidebar";

const close = () => viewStore.setState({ sidebarOpen: false });

/** The sidebar over the page, where there is no room beside it. It goes once something was chosen, or the person turns elsewhere. */
export function SidebarOver() {
  const box = useRef<HTMLDivElement>(null);
  const selected = useStore(viewStore, (v) => v.selected);
  const page = useStore(viewStore, (v) => v.page);
  const shown = useRef(`${selected} ${page}`);
  useEffect(() => {
    if (shown.current === `${selected} ${page}`) return;
    close();
    if (selected) focusPrompt();
  }, [selected, page]);
  useEffect(() => {
    const el = box.current;
    const before = document.activeElement;
    (el?.querySelector<HTMLElement>("[role=treeitem][tabindex='0']") ?? el?.querySelector<HTMLElement>("button"))?.focus();
    const key = (e: KeyboardEvent) => {
      if (e.key !== "Escape") return;
      e.stopPropagation();
      close();
    };
    const press = (e: PointerEvent) => {
      const to = e.target instanceof Element ? e.target : null;
      if (!to?.closest(".sidebar-over, .menu, [role=dialog], [data-sidebar]")) close();
    };
    el?.addEventListener("keydown", key);
    document.addEventListener("pointerdown", press);
    return () => {
      el?.removeEventListener("keydown", key);
      document.removeEventListener("pointerdown", press);
      const now = document.activeElement; // of a box that goes, the keyboard goes back to where it was
      if ((now === null || now === document.body || el?.contains(now)) && before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return <div className="sidebar-over" ref={box}><Sidebar /></div>;
}
