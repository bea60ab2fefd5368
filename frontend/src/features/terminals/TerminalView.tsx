import "@xterm/xterm/css/xterm.css";
import { ArrowDown, Circle } from "lucide-react";
import { ContextMenu } from "radix-ui";
import type { SyntheticEvent } from "react";
import { useEffect, useRef } from "react";
import { copyText, NOT_COPIED } from "../../shell/clipboard";
import { Button } from "../../ui/Button";
import { SafeText } from "../../ui/SafeText";
import { reportsMouse } from "./core";
import type { LinkHint } from "../../model/terminals/filelinks";
import { useFileDrop } from "../../session/useFileDrop";
import { FileView } from "./FileView";
import { PaneMenu } from "./PaneMenu";
import { PaneState } from "./PaneState";
import { PasteDialog } from "./PasteDialog";
import { ProgressLine } from "./ProgressLine";
import type { TerminalViewProps } from "./props";
import { SearchBox } from "./SearchBox";
import "./terminals.css";
import { usePane } from "./usePane";
import { isMac } from "../../ui/keys";

/** One terminal: its screen, and the messages, boxes and dialogs around it. */
export function TerminalView(props: TerminalViewProps) {
  const host = useRef<HTMLDivElement>(null);
  const p = usePane(props, host);
  const { ui, title, pane, tell, run } = p;
  const { client } = ui;
  const { onInfo, onHandle, onAction } = props;

  useEffect(() => {
    if (!client) return;
    onInfo?.({
      sessionId: client.sessionId, title, dir: ui.dir, state: client.state, exit: client.exit, target: client.target,
      unread: ui.bell || ui.unseen, bell: ui.bell, progress: ui.progress, recording: client.recording,
    });
  }, [onInfo, client, title, ui.dir, ui.bell, ui.unseen, ui.progress]);

  useEffect(() => {
    onHandle?.({
      focus: () => pane.current?.focus(),
      input: (d) => pane.current?.inject(d),
      find: () => run("find"),
      record: (on) => pane.current?.client.record(on),
      end: () => pane.current?.client.end(),
      text: () => pane.current?.term.getSelection() || screenText(pane.current?.term),
      busy: () => (pane.current?.shell.marks.all().length ? pane.current.shell.marks.isRunning() : null),
    });
    return () => onHandle?.(null);
  }, [onHandle, pane, run]);

  useEffect(() => {
    const area = pane.current?.term.textarea;
    area?.setAttribute("aria-label", `Terminal ${title}`);
  }, [pane, title, ui.drawn]);

  const whole = useRef<HTMLDivElement>(null);
  const { over, handlers } = useFileDrop(whole, p.onDrop, true);
  const refocus = () => pane.current?.focus();
  // React also sends events of dialogs and menus here, which are elsewhere in the document.
  const toPane = (e: SyntheticEvent) => e.currentTarget.contains(e.target as Node) && onAction?.("focus");
  const loading = !ui.drawn && client?.state !== "failed" && client?.state !== "ended";
  return (
    <div
      className={`term ${ui.ringing ? "ringing" : ""} ${loading ? "loading" : ""} ${over ? "over" : ""}`}
      data-region role="group" aria-label={`Terminal ${title}`}
      onFocusCapture={toPane}
      onMouseDown={toPane}
      ref={whole} {...handlers}
      // A program that takes the mouse gets the right button too. Shift gives it back to the pane.
      onContextMenuCapture={(e) => {
        const t = pane.current?.term;
        if (t && reportsMouse(t) && !e.shiftKey && e.target instanceof Element && e.target.closest(".term-screen")) {
          e.preventDefault();
          e.stopPropagation();
        }
      }}
    >
      <ProgressLine {...ui.progress} />
      <ContextMenu.Root modal={false}>
        <ContextMenu.Trigger asChild>
          <div className="term-body">
            <div className="term-screen" ref={host} />
            {loading && <Skeleton words={client?.state === "reconnecting" || (client?.retries ?? 0) > 1 ? "Loop does not answer. Trying again…" : "Opening the terminal…"} />}
            {ui.behind && (
              <Button look="small term-follow" onClick={() => { pane.current?.scroll.follow(); refocus(); }}>
                <ArrowDown size={13} aria-hidden /> New output
              </Button>
            )}
            <div className="term-notice" role="status" aria-live="polite">
              {ui.notice && <p key={ui.notice.id}><SafeText text={ui.notice.text} /></p>}
            </div>
          </div>
        </ContextMenu.Trigger>
        <PaneMenu
          run={run} mac={isMac} live={client?.state === "live"} recording={Boolean(client?.recording)}
          selected={() => pane.current?.term.hasSelection() ?? false}
          output={() => pane.current?.shell.output() ?? null}
          selectAll={() => pane.current?.term.selectAll()}
          copyOutput={(text) => void copyText(text).then((done) => p.notice(done ? "Copied the command's output." : NOT_COPIED))}
          record={(on) => pane.current?.client.record(on)}
        />
      </ContextMenu.Root>
      {ui.searching && pane.current && <SearchBox search={pane.current.search} asked={ui.searches} selected={() => pane.current?.term.getSelection() ?? ""} row={() => selectedRow(pane.current?.term)} onClose={() => { tell({ type: "search-closed" }); refocus(); }} />}
      {client?.recording && (
        <button type="button" className="term-chip rec" onClick={() => pane.current?.client.record(false)} title="Stop recording">
          <Circle size={9} fill="currentColor" aria-hidden /> Recording
        </button>
      )}
      {ui.link && <LinkNote link={ui.link} mac={isMac} />}
      {client && <PaneState client={client} drawn={ui.drawn} onRetry={() => (client.state === "failed" ? p.again() : pane.current?.client.retry())} onAction={(a) => onAction?.(a)} />}
      {ui.file && client && <FileView file={ui.file} channel={client.channelId} target={client.target} dir={ui.dir || props.info?.dir || ""} onClose={() => tell({ type: "file", file: null })} />}
      {ui.paste !== null && <PasteDialog text={ui.paste} onPaste={(text) => { tell({ type: "answered" }); if (text) p.pasteText(text, true); }} />}
    </div>
  );
}

/** A skeleton in the place of the screen. Words come only if it takes long. */
function Skeleton({ words }: { words: string }) {
  return (
    <div className="term-skeleton" role="status">
      {[38, 62, 24, 51].map((w) => <span key={w} style={{ width: `${w}%` }} aria-hidden />)}
      <p>{words}</p>
    </div>
  );
}

function LinkNote({ link, mac }: { link: NonNullable<LinkHint>; mac: boolean }) {
  return (
    <div className="term-link xterm-hover" style={{ left: link.x, top: link.y + (link.y < 60 ? 18 : -52) }} aria-hidden>
      <span className="mono"><SafeText text={link.target.length > 300 ? `${link.target.slice(0, 300)}…` : link.target} /></span>
      <span className="muted">{link.allowed ? `${mac ? "⌘" : "Ctrl"} click ${link.file ? "shows" : "opens"} it` : "Loop does not open this kind of link"}</span>
    </div>
  );
}

function screenText(term: import("@xterm/xterm").Terminal | undefined): string {
  if (!term) return "";
  const b = term.buffer.active;
  const lines = Array.from({ length: term.rows }, (_, y) => b.getLine(b.viewportY + y)?.translateToString(true) ?? "");
  return lines.join("\n").trimEnd();
}

function selectedRow(term: import("@xterm/xterm").Terminal | undefined): number {
  const at = term?.getSelectionPosition();
  return term && at ? at.start.y - term.buffer.active.viewportY : Infinity;
}
