import { ArrowLeft, Check, ClipboardPaste, Copy, ExternalLink, Link, RotateCw, SquareDashedMousePointer } from "lucide-react";
import { Fragment, useEffect, useState } from "react";
import { useStore } from "zustand";
import type { BrowserPopup, BrowserState } from "../../api/browser-messages";
import type { Box } from "../../model/browser/place";
import { viewportOf } from "../../model/browser/place";
import { toast } from "../../model/stores";
import { copyText, NOT_COPIED } from "../../shell/clipboard";
import { Button } from "../../ui/Button";
import { keys, keyText, MOD } from "../../ui/keys";
import { front } from "../../ui/layer";
import { Menu, MenuItem, MenuLine } from "../../ui/Menu";
import { SafeText } from "../../ui/SafeText";
import type { BrowserPane } from "./pane";

/** What the page would show in a window of its own: the list of a select, a picker, the menu of a right click. */
export function PagePopup({ pane, state, box }: { pane: BrowserPane; state: BrowserState; box: Box }) {
  const closed = useStore(pane.store, (s) => s.closed);
  const pressed = useStore(pane.store, (s) => s.pressed);
  const p = state.popup;
  if (!p || p.id <= closed) return null;
  const by = box.width / viewportOf(state.view).width;
  // The box is that of the frame; where the press was not in it, it was in another frame than the page's own.
  const own = p.kind === "menu" || (pressed.x >= p.x && pressed.x <= p.x + p.width && pressed.y >= p.y && pressed.y <= p.y + p.height);
  const at = own ? p : { ...p, x: pressed.x, y: pressed.y, width: 0, height: 0 };
  const place = { left: box.x + at.x * by, top: box.y + at.y * by, width: Math.max(1, at.width * by), height: Math.max(1, at.height * by) };
  return p.kind === "input" ? <ValueCard key={p.id} pane={pane} popup={p} place={place} /> : <PopupMenu key={p.id} pane={pane} state={state} popup={p} place={place} />;
}

type Place = { left: number; top: number; width: number; height: number };

function PopupMenu({ pane, state, popup, place }: { pane: BrowserPane; state: BrowserState; popup: BrowserPopup; place: Place }) {
  const [open, setOpen] = useState(true);
  useEffect(() => {
    const frame = requestAnimationFrame(() => document.querySelector(".browser-options [data-chosen]")?.closest<HTMLElement>("[role=menuitem]")?.focus());
    return () => cancelAnimationFrame(frame);
  }, []);
  const change = (on: boolean) => {
    setOpen(on);
    // What was chosen runs once the keyboard is back, and answers first.
    if (!on) front.after(() => pane.store.getState().closed < popup.id && pane.answerPopup(popup.id));
  };
  return (
    <Menu
      open={open} onOpenChange={change} align="start" sideOffset={2} className={popup.kind === "select" ? "browser-options" : ""}
      button={<button type="button" className="browser-anchor" tabIndex={-1} aria-label={popup.kind === "select" ? "Choices of the page" : "What can be done here"} style={place} />}
    >
      {popup.kind === "select" ? <Options pane={pane} popup={popup} /> : <PageMenu pane={pane} state={state} popup={popup} />}
    </Menu>
  );
}

function Options({ pane, popup }: { pane: BrowserPane; popup: BrowserPopup }) {
  return popup.options.map((o, i) => (
    <Fragment key={i}>
      {o.group && o.group !== popup.options[i - 1]?.group && <div className="menu-label"><SafeText text={o.group} /></div>}
      <MenuItem
        icon={<span className="menu-dot" data-chosen={o.chosen || undefined}>{o.chosen && <Check size={12} aria-hidden />}</span>}
        name={<SafeText text={o.label || " "} />} disabled={o.disabled} onSelect={() => pane.answerPopup(popup.id, { index: i })}
      />
    </Fragment>
  ));
}

function PageMenu({ pane, state, popup }: { pane: BrowserPane; state: BrowserState; popup: BrowserPopup }) {
  const tab = state.tabs.find((t) => t.active);
  const pick = () => {
    pane.toggle("picking");
    void pane.look({ x: popup.x, y: popup.y });
  };
  return (
    <>
      {popup.link && (
        <>
          <MenuItem icon={<ExternalLink size={14} aria-hidden />} name="Open the link in a new tab" onSelect={() => void pane.act("new_tab", { url: popup.link })} />
          <MenuItem icon={<Link size={14} aria-hidden />} name="Copy the link’s address" onSelect={() => void copyText(popup.link).then((done) => toast(done ? "The address is copied." : NOT_COPIED))} />
          <MenuLine />
        </>
      )}
      <MenuItem icon={<ArrowLeft size={14} aria-hidden />} name="Back" hint={keyText("browser.back")} disabled={!tab?.back} onSelect={() => void pane.act("go_back")} />
      <MenuItem icon={<RotateCw size={14} aria-hidden />} name="Load again" hint="F5" onSelect={() => void pane.act("reload")} />
      <MenuLine />
      <MenuItem icon={<Copy size={14} aria-hidden />} name="Copy what is marked" hint={keys(MOD, "C")} onSelect={() => pane.send({ type: "copy" })} />
      {popup.editable && <MenuItem icon={<ClipboardPaste size={14} aria-hidden />} name="Paste" hint={keys(MOD, "V")} onSelect={() => void pane.paste()} />}
      <MenuLine />
      <MenuItem icon={<SquareDashedMousePointer size={14} aria-hidden />} name="Pick this element for the prompt" hint={keyText("browser.pick")} onSelect={pick} />
    </>
  );
}

const NAMES: Record<string, string> = { color: "Choose a colour", date: "Choose a date", month: "Choose a month", week: "Choose a week", time: "Choose a time", "datetime-local": "Choose a date and time" };

/** A picker of this page, for a value of the other one. */
function ValueCard({ pane, popup, place }: { pane: BrowserPane; popup: BrowserPopup; place: Place }) {
  const [value, setValue] = useState(popup.value);
  const close = () => {
    pane.answerPopup(popup.id);
    pane.focusPage();
  };
  return (
    <div
      className="browser-card browser-over value" role="dialog" aria-label={NAMES[popup.input]} style={{ left: place.left, top: place.top + place.height + 4 }}
      onKeyDown={(e) => { if (e.key === "Escape") { e.preventDefault(); e.stopPropagation(); close(); } }}
    >
      <form onSubmit={(e) => { e.preventDefault(); pane.answerPopup(popup.id, { value }); pane.focusPage(); }}>
      {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- the person has just asked for it */}
      <input autoFocus className="field" type={popup.input} aria-label={NAMES[popup.input]} value={value} onChange={(e) => setValue(e.currentTarget.value)} />
      <div className="browser-card-foot">
        <Button look="small primary" type="submit">Choose</Button>
        <Button look="small" onClick={close}>Cancel</Button>
      </div>
      </form>
    </div>
  );
}
