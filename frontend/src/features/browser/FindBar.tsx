import { ChevronDown, ChevronUp, X } from "lucide-react";
import { useState } from "react";
import { useStore } from "zustand";
import { IconButton } from "../../ui/Button";
import type { BrowserPane } from "./pane";

/** Finds text in the page: Enter goes on, with Shift back, Esc closes. */
export function FindBar({ pane }: { pane: BrowserPane }) {
  const open = useStore(pane.store, (s) => s.finding);
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<number | null>(null);
  if (!open) return null;
  const find = async (back: boolean) => {
    if (query === "") return;
    const { result, error } = await pane.act("find_text", { query, back });
    setFound(error ? null : Number(result) || 0);
  };
  const close = () => {
    setFound(null);
    pane.toggle("finding");
    pane.focusPage();
  };
  return (
    <form
      className="browser-find" role="search" aria-label="Find in the page" onSubmit={(e) => { e.preventDefault(); void find(false); }}
      onKeyDown={(e) => {
        if (e.key === "Escape") close();
        else if (e.key === "Enter" && e.shiftKey) void find(true);
        else return;
        e.preventDefault();
        e.stopPropagation();
      }}
    >
      {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- the person has just asked for it */}
      <input autoFocus aria-label="Find" placeholder="Find in the page" spellCheck={false} value={query} onFocus={(e) => e.currentTarget.select()} onChange={(e) => { setQuery(e.currentTarget.value); setFound(null); }} />
      <span role="status" className={found === 0 ? "fail" : "quiet"}>{found === null ? "" : found === 0 ? "Not on this page" : found === 1 ? "1 place" : `${found >= 1000 ? "Over 999" : found} places`}</span>
      <IconButton small name="Previous" keys="Shift Enter" onClick={() => void find(true)}><ChevronUp size={14} aria-hidden /></IconButton>
      <IconButton small name="Next" keys="Enter" onClick={() => void find(false)}><ChevronDown size={14} aria-hidden /></IconButton>
      <IconButton small name="Close" keys="Esc" onClick={close}><X size={14} aria-hidden /></IconButton>
    </form>
  );
}
