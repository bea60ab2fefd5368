import { FileUp, MessageSquareWarning, Trash2 } from "lucide-react";
import type { FormEvent, ReactNode, RefObject } from "react";
import { useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import type { BrowserChooser, BrowserDialog, BrowserState } from "../../api/browser-messages";
import { Button } from "../../ui/Button";
import { SafeText } from "../../ui/SafeText";
import type { BrowserPane } from "./pane";

const KINDS: Record<string, string> = { alert: "The page says", confirm: "The page asks", prompt: "The page asks", beforeunload: "Leave this page?" };

type CardProps = { name: string; icon: ReactNode; keyboard: RefObject<HTMLElement | null>; asked?: boolean; children: ReactNode; onSubmit(): void; onCancel?: (() => void) | undefined };

/** A question over the page. It takes the keyboard only from the page, or because the person has just asked for it; afterwards the page has it again. */
function Card({ name, icon, keyboard, asked, children, onSubmit, onCancel }: CardProps) {
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const el = card.current;
    const page = keyboard.current;
    if (asked || document.activeElement === page) el?.querySelector<HTMLElement>("input:not([type=file]),[type=submit]")?.focus();
    return () => {
      if (el?.contains(document.activeElement) || document.activeElement === document.body) page?.focus();
    };
  }, [keyboard, asked]);
  return (
    <div
      ref={card} className="browser-card browser-over ask" role="alertdialog" aria-label={name}
      onKeyDown={(e) => { if (e.key === "Escape" && onCancel) { e.preventDefault(); e.stopPropagation(); onCancel(); } }}
    >
      <form onSubmit={(e: FormEvent) => { e.preventDefault(); onSubmit(); }}>
        <h3>{icon} {name}</h3>
        {children}
      </form>
    </div>
  );
}

/** What the page, or a button of the pane, asks the person. */
export function Cards({ pane, state, keyboard }: { pane: BrowserPane; state: BrowserState; keyboard: RefObject<HTMLElement | null> }) {
  const resetting = useStore(pane.store, (s) => s.resetting);
  if (resetting) {
    const close = () => pane.store.setState({ resetting: false });
    return (
      <Card asked name="Forget the profile?" icon={<Trash2 size={15} aria-hidden />} keyboard={keyboard} onSubmit={close} onCancel={close}>
        <p>Sign-ins, cookies and all that pages have stored in this channel’s browser are deleted. Its pages close, and Chromium starts again.</p>
        <div className="browser-card-foot">
          <Button look="primary" type="submit">Keep it</Button>
          <Button look="danger" onClick={() => { close(); pane.send({ type: "reset" }); }}>Forget it</Button>
        </div>
      </Card>
    );
  }
  if (state.dialog) return <DialogCard key={state.dialog.kind + state.dialog.message} pane={pane} dialog={state.dialog} keyboard={keyboard} />;
  if (state.chooser) return <ChooserCard pane={pane} chooser={state.chooser} keyboard={keyboard} />;
  return null;
}

function DialogCard({ pane, dialog, keyboard }: { pane: BrowserPane; dialog: BrowserDialog; keyboard: RefObject<HTMLElement | null> }) {
  const [text, setText] = useState(dialog.default);
  const answer = (accept: boolean) => void pane.act("dialog", { accept, ...(dialog.kind === "prompt" ? { text } : {}) });
  const leaves = dialog.kind === "beforeunload";
  return (
    <Card name={KINDS[dialog.kind] ?? "The page asks"} icon={<MessageSquareWarning size={15} aria-hidden />} keyboard={keyboard} onSubmit={() => answer(true)} onCancel={() => answer(dialog.kind === "alert")}>
      <p className="browser-card-text selectable" tabIndex={0}><SafeText text={dialog.message || (leaves ? "What you typed may be lost." : "Nothing is said.")} /></p>
      {dialog.kind === "prompt" && <input className="field" aria-label="Answer" value={text} onChange={(e) => setText(e.currentTarget.value)} />}
      <div className="browser-card-foot">
        <Button look="primary" type="submit">{leaves ? "Leave" : "OK"}</Button>
        {dialog.kind !== "alert" && <Button onClick={() => answer(false)}>{leaves ? "Stay" : "Cancel"}</Button>}
      </div>
    </Card>
  );
}

function ChooserCard({ pane, chooser, keyboard }: { pane: BrowserPane; chooser: BrowserChooser; keyboard: RefObject<HTMLElement | null> }) {
  const files = useRef<HTMLInputElement>(null);
  const sending = useStore(pane.store, (s) => s.sending);
  const what = chooser.multiple ? "files" : "a file";
  return (
    <Card name={`The page asks for ${what}`} icon={<FileUp size={15} aria-hidden />} keyboard={keyboard} onSubmit={() => files.current?.click()} onCancel={() => void pane.giveFiles([])}>
      <p>{sending ? <SafeText text={sending} /> : chooser.accept ? <>It takes <SafeText text={chooser.accept.slice(0, 80)} />.</> : "Of this computer; the page gets a copy."}</p>
      <input
        ref={files} type="file" hidden aria-label="Files for the page" multiple={chooser.multiple} accept={chooser.accept || undefined}
        onChange={(e) => { const list = [...(e.currentTarget.files ?? [])]; if (list.length > 0) void pane.giveFiles(list); }}
      />
      <div className="browser-card-foot">
        <Button look="primary" type="submit" disabled={sending !== ""}>Choose {what}</Button>
        <Button onClick={() => void pane.giveFiles([])}>Cancel</Button>
      </div>
    </Card>
  );
}
