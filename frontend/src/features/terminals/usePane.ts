// Ties one TerminalPane to React: what is shown around it, what keys and menus do.
import type { SearchAddon } from "@xterm/addon-search";
import type { RefObject } from "react";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { ClientState } from "../../model/terminals/client";
import type { FileRef, LinkHint } from "../../model/terminals/filelinks";
import type { KeyAction } from "../../model/terminals/keys";
import { preparePaste } from "../../model/terminals/paste";
import { dirName, sessionTitle } from "../../model/terminals/titles";
import { copyText, readsByItself, readText } from "../../shell/clipboard";
import type { Dropped } from "../../session/bring";
import { clipboardFiles } from "../../session/bring";
import { session } from "../../session/session";
import { beep } from "./bell";
import { wordsFor } from "./files";
import { takeKeys, takePastes } from "./keyboard";
import { TerminalPane } from "./pane";
import type { PaneInfo, TerminalViewProps } from "./props";
import { DEFAULT_SETTINGS } from "./props";
import { toastFailure } from "../../model/stores";
import { isMac } from "../../ui/keys";

const NOTICE_MS = 5000;
const READ_MS = 70; // for one character of a long note
const BELL_MS = 180;
const COPY_MS = 150; // after the last change of what is selected

export type PaneUi = {
  client: ClientState | null;
  drawn: boolean;
  title: string;
  dir: string;
  bell: boolean; // not yet seen
  unseen: boolean; // output came behind another pane
  ringing: boolean; // the flash of it
  progress: PaneInfo["progress"];
  behind: boolean;
  link: LinkHint;
  notice: { id: number; text: string } | null;
  search: SearchAddon | null; // open
  asked: number; // how often it was asked for
  paste: string | null; // waits for an answer
  file: FileRef | null; // shown
  tabMoves: boolean;
};

const START: PaneUi = { client: null, drawn: false, title: "", dir: "", bell: false, unseen: false, ringing: false, progress: { state: 0, value: 0 }, behind: false, link: null, notice: null, search: null, asked: 0, paste: null, file: null, tabMoves: false };

let primary = ""; // what was selected last, in any terminal, for the middle click
let notices = 0;

export function usePane(props: TerminalViewProps, host: RefObject<HTMLDivElement | null>) {
  const settings = props.settings ?? DEFAULT_SETTINGS;
  const [ui, setUi] = useState(START);
  const [generation, setGeneration] = useState(0);
  const pane = useRef<TerminalPane | null>(null);
  const latest = useRef({ props, settings, ui });
  useLayoutEffect(() => {
    latest.current = { props, settings, ui };
  });
  const change = useCallback((part: Partial<PaneUi>) => setUi((u) => ({ ...u, ...part })), []);
  const notice = useCallback((text: string) => change({ notice: { id: ++notices, text } }), [change]);

  const pasteText = useCallback((text: string, sure = false) => {
    const term = pane.current?.term;
    if (!term) return;
    const p = preparePaste(text, term.modes.bracketedPasteMode);
    if (p.tooLong) return notice("That is too much for one paste. Put it into a file.");
    if (p.ask && !sure) return change({ paste: p.text });
    if (p.removed > 0) notice("Control characters were left out of the pasted text.");
    if (p.text) term.paste(p.text);
  }, [change, notice]);

  const insert = useCallback(async (d: Dropped) => {
    const p = pane.current;
    if (!p || d.paths.length + d.files.length === 0) return;
    const got = await wordsFor(d, p.client.state);
    if (got.problems[0]) notice(got.problems[0]);
    if (got.text) p.term.paste(got.text);
    p.focus();
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
        setUi((u) => ({ ...u, search: p.search, asked: u.asked + 1 }));
        break;
      case "clear":
        // The session's, so that nothing of it comes back; its screen is drawn anew.
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
      case "tab-moves": {
        const on = !latest.current.ui.tabMoves;
        change({ tabMoves: on });
        notice(on ? "Tab moves the focus now." : "Tab goes to the program again.");
        break;
      }
      case "split-right": case "split-down": case "new": case "close": case "zoom-in": case "zoom-out": case "zoom-reset":
        latest.current.props.onAction?.(action);
        break;
    }
    p.scroll.check();
  }, [change, insert, notice, pasteText]);

  // One pane for one session: a new id that the pane itself made is not a new pane.
  const shownId = useRef("");
  const wanted = props.sessionId ?? "";
  useEffect(() => {
    if (wanted !== "" && shownId.current !== "" && wanted !== shownId.current) setGeneration((g) => g + 1);
  }, [wanted]);

  useEffect(() => {
    const el = host.current;
    const { props: now, settings: s } = latest.current;
    if (!el || (!now.sessionId && !now.create)) return;
    let bellTimer: ReturnType<typeof setTimeout> | undefined;
    let copyTimer: ReturnType<typeof setTimeout> | undefined;
    setUi({ ...START });
    const p = new TerminalPane({
      host: el, at: () => session().endpoint(), settings: s, visible: now.visible, mac: isMac,
      want: now.sessionId ? { sessionId: now.sessionId } : { create: now.create ?? {} },
      events: {
        onClient(client) {
          shownId.current = client.sessionId;
          setUi((u) => ({ ...u, client, title: client.title && client.title !== u.client?.title ? client.title : u.title, search: u.search }));
        },
        onDrawn: () => change({ drawn: true }),
        onTitle: (title) => change({ title }),
        onDir: (dir) => change({ dir }),
        onBell() {
          clearTimeout(bellTimer);
          change({ ringing: true, bell: !(latest.current.props.focused && latest.current.props.visible && document.hasFocus()) });
          bellTimer = setTimeout(() => change({ ringing: false }), BELL_MS);
          if (latest.current.settings.bellSound) beep();
        },
        onProgress: (progress) => change({ progress }),
        onBehind: (behind) => change({ behind }),
        onUnseen: (unseen) => setUi((u) => (u.unseen === unseen ? u : { ...u, unseen })),
        onSelection(text) {
          if (document.activeElement?.closest(".term-search")) return; // found, not selected
          primary = text;
          clearTimeout(copyTimer);
          if (latest.current.settings.copyOnSelect) copyTimer = setTimeout(() => void copyText(text), COPY_MS);
        },
        onLink(link) {
          const r = el.getBoundingClientRect();
          change({ link: link && { ...link, x: Math.max(4, Math.min(link.x - r.left, r.width - 320)), y: link.y - r.top } });
        },
        onFile: (file) => change({ file }),
        onNotice: notice,
        onCopied(text, toPrimary) {
          if (toPrimary) primary = text;
          else void copyText(text);
          notice(`A program copied ${text.length} characters.`);
        },
        onSent: (data) => latest.current.props.onInput?.(data),
        openURL: (url) => void session().api.system.openURL(url).catch(toastFailure),
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
      clearTimeout(bellTimer);
      clearTimeout(copyTimer);
      stopPastes();
      p.dispose();
      pane.current = null;
      shownId.current = "";
    };
  }, [generation, host, change, notice, run, pasteText, insert]);

  useEffect(() => pane.current?.show(props.visible), [props.visible, generation]);
  useEffect(() => {
    if (!props.focused || !props.visible) return;
    pane.current?.focus();
    pane.current?.client.claimSize();
    change({ bell: false });
  }, [props.focused, props.visible, generation, change]);
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
  useEffect(() => {
    if (!ui.notice) return;
    const t = setTimeout(() => change({ notice: null }), Math.max(NOTICE_MS, ui.notice.text.length * READ_MS));
    return () => clearTimeout(t);
  }, [ui.notice, change]);

  const title = info ? sessionTitle(info) : ui.title || (ui.dir ? dirName(ui.dir) : "") || "Terminal";
  function onDrop(d: Dropped) {
    if (d.paths.length > 0 || d.files.length > 0) void insert(d);
    else if (d.text) pasteText(d.text);
  }
  return { ui, title, pane, change, run, pasteText, notice, onDrop, again: () => setGeneration((g) => g + 1) };
}
