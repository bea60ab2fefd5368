// Ties one TerminalPane to React: the state shown around it, and the actions of keys and menus.
import type { RefObject } from "react";
import { followIn } from "./follow";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { KeyAction } from "../../model/terminals/keys";
import type { PaneEvent } from "../../model/terminals/pane";
import { startPane } from "../../model/terminals/pane";
import { dirName, sessionTitle } from "../../model/terminals/titles";
import { copyText, readsByItself, readText } from "../../shell/clipboard";
import type { Dropped } from "../../session/bring";
import { clipboardFiles } from "../../session/bring";
import { session } from "../../session/session";
import { insertFiles } from "./files";
import { takeKeys, takePastes } from "./keyboard";
import { TerminalPane } from "./pane";
import type { TerminalViewProps } from "./props";
import { DEFAULT_SETTINGS } from "./props";
import { isMac } from "../../ui/keys";

const COPY_MS = 150; // the pause after the last change of the selection

const START = startPane(true);

let primary = ""; // the last selection in any terminal, for the middle click

export function usePane(props: TerminalViewProps, host: RefObject<HTMLDivElement | null>) {
  const settings = props.settings ?? DEFAULT_SETTINGS;
  const [ui, setUi] = useState(START);
  const [generation, setGeneration] = useState(0);
  const pane = useRef<TerminalPane | null>(null);
  const latest = useRef({ props, settings, ui });
  useLayoutEffect(() => {
    latest.current = { props, settings, ui };
  });
  const tell = useCallback((e: PaneEvent) => pane.current?.tell(e), []);
  const notice = useCallback((text: string) => tell({ type: "notice", text }), [tell]);

  const pasteText = useCallback((text: string, sure = false) => {
    const term = pane.current?.term;
    if (term) tell({ type: "paste", text, bracketed: term.modes.bracketedPasteMode, sure });
  }, [tell]);

  const insert = useCallback(async (d: Dropped) => {
    if (pane.current) await insertFiles(pane.current, d, notice);
  }, [notice]);

  const run = useCallback((action: KeyAction) => {
    const p = pane.current;
    if (!p) return;
    const { term } = p;
    switch (action) {
      case "copy":
      case "copy-and-clear":
        if (term.hasSelection()) void copyText(term.getSelection()).then(() => p.focus());
        if (action === "copy-and-clear") term.clearSelection();
        break;
      case "paste":
        void readText().then(async (t) => {
          if (t === null) notice("The browser does not let this page read the clipboard. Paste with the keyboard.");
          else if (t === "" && readsByItself()) await insert(await clipboardFiles());
          else pasteText(t);
        });
        break;
      case "find":
        tell({ type: "search" });
        break;
      case "clear":
        // The session itself is cleared, so that no snapshot brings the text back. The pane then gets a new one.
        if (p.client.clear()) p.scroll.follow();
        else if (p.client.state.state === "ended") term.clear();
        else notice("Not cleared: the terminal is not connected.");
        break;
      case "page-up":
      case "page-down":
        term.scrollPages(action === "page-up" ? -1 : 1);
        break;
      case "scroll-top":
        term.scrollToTop();
        break;
      case "scroll-bottom":
        term.scrollToBottom();
        break;
      case "previous-command":
      case "next-command":
        p.shell.jump(action === "next-command" ? 1 : -1);
        break;
      case "newline":
        p.type("\\\r");
        break;
      case "tab-moves":
        tell({ type: "tab-moves" });
        break;
      case "split-right": case "split-down": case "new": case "close": case "zoom-in": case "zoom-out": case "zoom-reset":
        latest.current.props.onAction?.(action);
        break;
    }
    p.scroll.check();
  }, [insert, notice, pasteText, tell]);

  // Another session needs another pane. The id of a session that this pane made itself does not.
  const shownId = useRef("");
  const wanted = props.sessionId ?? "";
  useEffect(() => {
    if (wanted !== "" && shownId.current !== "" && wanted !== shownId.current) setGeneration((g) => g + 1);
  }, [wanted]);

  useEffect(() => {
    const el = host.current;
    const { props: now, settings: s } = latest.current;
    if (!el || (!now.sessionId && !now.create)) return;
    let copyTimer: ReturnType<typeof setTimeout> | undefined;
    setUi(START);
    const p = new TerminalPane({
      host: el, at: () => session().endpoint(), settings: s, visible: now.visible, mac: isMac,
      want: now.sessionId ? { sessionId: now.sessionId } : { create: now.create ?? {} },
      events: {
        onChange(next) {
          shownId.current = next.client?.sessionId ?? "";
          setUi(next);
        },
        attended: () => latest.current.props.focused && latest.current.props.visible && document.hasFocus(),
        onSelection(text) {
          if (document.activeElement?.closest(".term-search")) return; // a hit of the search is no selection of the person
          primary = text;
          clearTimeout(copyTimer);
          if (latest.current.settings.copyOnSelect) copyTimer = setTimeout(() => void copyText(text), COPY_MS);
        },
        onCopied(text, toPrimary) {
          if (toPrimary) primary = text;
          else void copyText(text);
        },
        onSent: (data) => latest.current.props.onInput?.(data),
        follow: (t, edit) => void followIn(t, edit, p.client.state, latest.current.ui.dir || latest.current.props.info?.dir || "").then((file) => file && p.tell({ type: "file", file })),
      },
    });
    pane.current = p;
    takeKeys(p.term, {
      state: () => ({ hasSelection: p.term.hasSelection(), tabMoves: latest.current.ui.tabMoves || p.client.state.state === "ended" || p.client.state.state === "failed", shiftEnter: latest.current.settings.shiftEnter, leaveByF6: latest.current.settings.leaveByF6 }),
      run,
      layout: (e) => latest.current.props.onKey?.(e) ?? false,
    });
    const stopPastes = takePastes(el, p.term, { onText: (t) => pasteText(t), onFiles: (files) => void insert({ paths: [], files, text: "" }), primary: () => primary });
    if (latest.current.props.focused) p.focus();
    return () => {
      clearTimeout(copyTimer);
      stopPastes();
      p.dispose();
      pane.current = null;
      shownId.current = "";
    };
  }, [generation, host, run, pasteText, insert]);

  useEffect(() => pane.current?.show(props.visible), [props.visible, generation]);
  useEffect(() => {
    if (!props.focused || !props.visible) return;
    pane.current?.focus();
    pane.current?.client.claimSize();
    tell({ type: "attended" });
  }, [props.focused, props.visible, generation, tell]);
  const first = useRef(settings);
  useEffect(() => {
    if (first.current === settings) return;
    first.current = settings;
    pane.current?.configure(settings);
  }, [settings]);
  const { info } = props;
  useEffect(() => {
    if (info) pane.current?.client.told(info);
  }, [info]);
  const title = info ? sessionTitle(info) : ui.title || (ui.dir ? dirName(ui.dir) : "") || "Terminal";
  function onDrop(d: Dropped) {
    if (d.paths.length > 0 || d.files.length > 0) void insert(d);
    else if (d.text) pasteText(d.text);
  }
  return { ui, title, pane, tell, run, pasteText, notice, onDrop, again: () => setGeneration((g) => g + 1) };
}
