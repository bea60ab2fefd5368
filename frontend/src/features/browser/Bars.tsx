import { ChevronDown, ChevronUp, MessageSquareWarning, X } from "lucide-react";
import { useState } from "react";
import { useStore } from "zustand";
import type { BrowserDialog } from "../../api/browser-messages";
import { Button, IconButton } from "../../ui/Button";
import { SafeText } from "../../ui/SafeText";
import type { BrowserPane } from "./pane";

const KINDS: Record<string, string> = { alert: "The page says", confirm: "The page asks", prompt: "The page asks", beforeunload: "Leave the page?" };

/** The question that a page stands still for. */
export function DialogBar({ pane, dialog }: { pane: BrowserPane; dialog: BrowserDialog }) {
  const [text, setText] = useState(dialog.default);
  const answer = (accept: boolean) => void pane.act("dialog", { accept, text });
  return (
    <form className="browser-dialog" role="alertdialog" aria-label={KINDS[dialog.kind] ?? "The page asks"} onSubmit={(e) => { e.preventDefault(); answer(true); }}>
      <MessageSquareWarning size={15} aria-hidden />
      <p><strong>{KINDS[dialog.kind] ?? "The page asks"}</strong> <SafeText text={dialog.message} /></p>
      {dialog.kind === "prompt" && <input aria-label="Answer" value={text} onChange={(e) => setText(e.currentTarget.value)} />}
      <Button look="small" type="submit">OK</Button>
      {dialog.kind !== "alert" && <Button look="small" onClick={() => answer(false)}>Cancel</Button>}
    </form>
  );
}

/** Finds text in the page. */
export function FindBar({ pane }: { pane: BrowserPane }) {
  const open = useStore(pane.store, (s) => s.finding);
  const [query, setQuery] = useState("");
  const [none, setNone] = useState(false);
  if (!open) return null;
  const find = async (back: boolean) => {
    if (query === "") return;
    const res = await pane.act("find_text", { query, back });
    setNone(Boolean(res.error) || /^(not found|nothing|no )/i.test(res.result));
  };
  const close = () => {
    pane.toggle("finding");
    pane.focusPage();
  };
  return (
    <form className="browser-find" role="search" aria-label="Find in the page" onSubmit={(e) => { e.preventDefault(); void find(false); }} onKeyDown={(e) => e.key === "Escape" && close()}>
      {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- the person has just asked for it */}
      <input autoFocus aria-label="Find" placeholder="Find in the page" value={query} onChange={(e) => { setQuery(e.currentTarget.value); setNone(false); }} />
      <span role="status">{none ? "Not on this page" : ""}</span>
      <IconButton small name="Previous" onClick={() => void find(true)}><ChevronUp size={14} aria-hidden /></IconButton>
      <IconButton small name="Next" onClick={() => void find(false)}><ChevronDown size={14} aria-hidden /></IconButton>
      <IconButton small name="Close" onClick={close}><X size={14} aria-hidden /></IconButton>
    </form>
  );
}
