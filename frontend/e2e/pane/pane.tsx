// One terminal pane without the rest of the page, for tests. window.pane has all that
// the pane reported to its layout, and sets other props.
import "@fontsource-variable/inter/index.css";
import "@fontsource-variable/jetbrains-mono/index.css";
import "../../src/styles/tokens.css";
import "../../src/styles/symbols.css";
import "../../src/styles/base.css";
import "../../src/ui/ui.css";
import { Terminal } from "@xterm/xterm";
import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { session, startSession } from "../../src/session/session";
import { applyTheme } from "../../src/app/theme";
import { RecordingPlayer } from "../../src/features/terminals/RecordingPlayer";
import { terminalOptions } from "../../src/features/terminals/options";
import { DEFAULT_SETTINGS } from "../../src/features/terminals/props";
import type { PaneHandle, PaneInfo, TerminalViewProps } from "../../src/features/terminals/props";
import { TerminalView } from "../../src/features/terminals/TerminalView";
import { openBridge } from "../../src/shell/open";

type Told = { infos: PaneInfo[]; actions: string[]; inputs: string[]; handle: PaneHandle | null; set(p: Partial<TerminalViewProps>): Promise<void> };
declare global {
  interface Window {
    pane: Told;
    /** Feeds the same terminal from memory, the limit for a pane's speed. Returns milliseconds. */
    feed(line: string, bytes: number): Promise<number>;
  }
}

window.feed = async (line, bytes) => {
  const box = document.querySelector<HTMLElement>("#box") ?? document.body;
  const div = document.createElement("div");
  div.style.cssText = "position:absolute;inset:32px 0 0";
  box.append(div);
  const t = new Terminal({ ...terminalOptions(DEFAULT_SETTINGS), cols: 100, rows: 28 });
  t.open(div);
  const chunk = new TextEncoder().encode(line.repeat(Math.ceil(65_536 / line.length))).subarray(0, 65_536);
  const began = performance.now();
  const waits: Promise<void>[] = [];
  for (let n = 0; n < bytes; n += chunk.length) {
    waits.push(new Promise((r) => t.write(chunk, r)));
    if (waits.length >= 8) await waits.shift(); // as much is on its way as a session allows
  }
  await Promise.all(waits);
  const ms = performance.now() - began;
  t.dispose();
  div.remove();
  return ms;
};

const query = new URLSearchParams(location.search);
applyTheme(query.get("theme") ?? "dark", query.get("contrast") ?? "");
startSession(await openBridge());
const told: Told = (window.pane = { infos: [], actions: [], inputs: [], handle: null, set: () => Promise.resolve() });

function onInfo(i: PaneInfo) {
  told.infos.push(i);
}
function onAction(a: string) {
  if (a !== "focus") told.actions.push(a);
}
function onInput(d: string | Uint8Array) {
  told.inputs.push(typeof d === "string" ? d : `bytes ${d.length}`);
}
function onHandle(h: PaneHandle | null) {
  told.handle = h;
}
const first: Partial<TerminalViewProps> = query.get("session") ? { sessionId: query.get("session") ?? "" } : { create: { channel_id: query.get("channel") ?? "", target: query.get("target") === "host" || location.protocol === "wails:" ? "host" : undefined } };

function Page() {
  const [props, setProps] = useState<Partial<TerminalViewProps>>(first);
  // A promise of set resolves once the pane has the new props.
  const [waits] = useState<(() => void)[]>([]);
  told.set = (p) => new Promise((done) => {
    waits.push(done);
    setProps((was) => ({ ...was, ...p }));
  });
  useEffect(() => waits.splice(0).forEach((done) => done()), [props, waits]);
  const cast = query.get("recording");
  return (
    <main style={{ display: "grid", gridTemplateRows: "32px 1fr", height: "100%" }}>
      <h1 className="sr-only">One pane</h1>
      <button type="button" className="btn small" id="elsewhere">Elsewhere</button>
      <div id="box" style={{ minHeight: 0, minWidth: 0, overflow: "hidden" }}>
        {cast ? <RecordingPlayer name={cast} at={() => session().endpoint()} onClose={() => told.actions.push("closed")} /> : <TerminalView visible focused onInfo={onInfo} onAction={onAction} onInput={onInput} onHandle={onHandle} {...props} />}
      </div>
    </main>
  );
}

const root = document.getElementById("root");
if (root) createRoot(root).render(<Page />);
