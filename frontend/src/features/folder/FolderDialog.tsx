import { CornerLeftUp, Folder } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { toFailure } from "../../api/failure";
import type { Failure, FolderList } from "../../api/types";
import { visible } from "../../model/text";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { isTypeAheadKey, useTypeAhead } from "../../ui/useTypeAhead";
import { addFolder } from "../../session/actions";
import { session } from "../../session/session";
import "./folder.css";

/** The chooser of folders for a page in a browser. It shows the folders of the computer that Loop runs on. */
export function FolderDialog({ onClose }: { onClose(): void }) {
  const [list, setList] = useState<FolderList | null>(null);
  const [path, setPath] = useState("");
  const [typing, setTyping] = useState(false);
  const [at, setAt] = useState(0);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const [slow, setSlow] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const run = useRef(0);
  const latest = useRef("");

  const go = useCallback(async (to: string, from = "") => {
    const mine = ++run.current;
    const asked = latest.current; // the text in the field at that time
    const timer = setTimeout(() => setSlow(true), 1000);
    try {
      const l = await session().api.channels.folders(to);
      if (mine !== run.current) return;
      setList(l);
      setPath((now) => (now === asked ? l.path : now)); // text typed meanwhile stays
      setFailure(null);
      const back = (l.entries ?? []).findIndex((e) => e.path === from);
      setAt(hasParent(l) ? back + 1 : Math.max(0, back));
    } catch (err) {
      if (mine === run.current) setFailure(toFailure(err));
    } finally {
      clearTimeout(timer);
      if (mine === run.current) setSlow(false);
    }
  }, []);

  useEffect(() => void go(""), [go]);

  const rows = list ? [...(hasParent(list) ? [{ name: "..", path: list.parent }] : []), ...(list.entries ?? [])] : [];
  const typeAhead = useTypeAhead(rows.map((r) => r.name), at, list?.path);
  useEffect(() => {
    box.current?.querySelector(`[data-row="${at}"]`)?.scrollIntoView({ block: "nearest" });
  }, [at, list]);

  function enter(i: number) {
    const r = rows[i];
    if (r && list) void go(r.path, list.path);
  }

  async function open(dir: string) {
    setBusy(true);
    setFailure(null);
    try {
      await addFolder(dir);
    } catch (err) {
      setFailure(toFailure(err));
      setBusy(false);
    }
  }

  function onKey(e: KeyboardEvent) {
    const act: Record<string, () => void> = {
      ArrowDown: () => setAt(Math.min(rows.length - 1, at + 1)),
      ArrowUp: () => setAt(Math.max(0, at - 1)),
      Home: () => setAt(0),
      End: () => setAt(rows.length - 1),
      PageDown: () => setAt(Math.min(rows.length - 1, at + 10)),
      PageUp: () => setAt(Math.max(0, at - 10)),
      Enter: () => (e.ctrlKey || e.metaKey ? void open(list?.path ?? "") : enter(at)),
      ArrowRight: () => enter(at),
      ArrowLeft: () => list && void go(list.parent, list.path),
      Backspace: () => list && void go(list.parent, list.path),
    };
    const f = act[e.key];
    if (f) f();
    else if (isTypeAheadKey(e)) {
      const i = typeAhead(e.key);
      if (i >= 0) setAt(i);
    } else return;
    e.preventDefault();
  }

  const typed = path.trim();
  useLayoutEffect(() => {
    latest.current = path;
  }, [path]);

  /** Goes to a typed path first, and opens it on the next Enter. Without a typed path, Enter opens nothing. */
  function submit() {
    if (!typing) box.current?.focus();
    else if (typed === list?.path) void open(typed);
    else void go(typed);
  }

  return (
    <Modal title="Open a project folder" wide onClose={onClose} description="Folders on the computer that Loop runs on" foot={
      <>
        <span className="grow muted ellipsis mono" title={list?.path}>{list ? visible(list.path) : ""}</span>
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" disabled={busy || !list} onClick={() => void open(typed || (list?.path ?? ""))}>
          {busy ? "Opening" : "Open this folder"}
        </Button>
      </>
    }>
      <form onSubmit={(e) => { e.preventDefault(); submit(); }}>
        <label className="sr-only" htmlFor="folder-path">Path</label>
        <input id="folder-path" className="field mono" value={path} spellCheck={false} autoComplete="off" onChange={(e) => { setPath(e.target.value); setTyping(true); }}
          onKeyDown={(e) => { if (e.key === "ArrowDown") { e.preventDefault(); box.current?.focus(); } }} />
      </form>
      {failure && <FailureCard failure={failure} />}
      <div className="folders" role="listbox" aria-label="Folders" tabIndex={0} ref={box} onKeyDown={onKey} aria-activedescendant={rows[at] ? `folder-${at}` : undefined}>
        {rows.map((r, i) => (
          <div key={r.path} id={`folder-${i}`} data-row={i} role="option" aria-selected={i === at} className={`folder ${i === at ? "on" : ""} ${r.name.startsWith(".") && r.name !== ".." ? "dim" : ""}`}
            onClick={() => setAt(i)} onDoubleClick={() => enter(i)}>
            {r.name === ".." ? <CornerLeftUp size={14} aria-hidden /> : <Folder size={14} aria-hidden />}
            <span className="ellipsis">{r.name === ".." ? "Up one folder" : visible(r.name)}</span>
          </div>
        ))}
        {list && (list.entries ?? []).length === 0 && <p className="folders-empty">No folders in here. You can open this one.</p>}
      </div>
      {!list && !failure && <p className="folders-empty" role="status">{slow ? "Reading the folder" : ""}</p>}
      <p className="hint">Arrows move, Enter goes in, Backspace goes up, letters jump.</p>
    </Modal>
  );
}

function hasParent(l: FolderList): boolean {
  return l.parent !== "" && l.parent !== l.path;
}
