import { CornerLeftUp, Folder } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { toFailure } from "../../api/failure";
import type { Failure, FolderList } from "../../api/types";
import { completed, samePath, separatorOf, shownFolders, splitTyped } from "../../model/folder-path";
import { visible } from "../../model/text";
import { loadChoice, saveChoice } from "../../shell/memory";
import { Button, Kbd } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { isTypeAheadKey, useTypeAhead } from "../../ui/useTypeAhead";
import { addFolder } from "../../session/actions";
import { session } from "../../session/session";
import "./folder.css";

const LAST = "folder.last"; // where it begins: the folder beside which one was opened last
const HIDDEN = "folder.hidden";

/** The chooser of folders for a page in a browser. It shows the folders of the computer that Loop runs on. */
export function FolderDialog({ onClose }: { onClose(): void }) {
  const [list, setList] = useState<FolderList | null>(null);
  const [path, setPath] = useState("");
  const [typing, setTyping] = useState(false);
  const [at, setAt] = useState(0);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const [slow, setSlow] = useState(false);
  const [hidden, setHidden] = useState(() => loadChoice(HIDDEN) === "yes");
  const box = useRef<HTMLDivElement>(null);
  const run = useRef(0);
  const latest = useRef("");

  /** Goes to a folder, and reports whether it can be opened. */
  const go = useCallback(async (to: string, from = "") => {
    const mine = ++run.current;
    const asked = latest.current; // the text in the field at that time
    const timer = setTimeout(() => setSlow(true), 1000);
    try {
      const l = await session().api.channels.folders(to);
      if (mine !== run.current) return true;
      setList(l);
      setPath((now) => (now === asked ? l.path : now)); // text typed meanwhile stays
      setFailure(null);
      const back = (l.entries ?? []).findIndex((e) => e.path === from);
      setAt(hasParent(l) ? back + 1 : Math.max(0, back));
      return true;
    } catch (err) {
      if (mine !== run.current) return true; // the person has gone elsewhere
      setFailure(toFailure(err));
      return false;
    } finally {
      clearTimeout(timer);
      if (mine === run.current) setSlow(false);
    }
  }, []);

  /** Reads the folder that a typed path is in. One that is not there is no failure while it is typed. */
  const peek = useCallback(async (to: string) => {
    const mine = ++run.current;
    const l = await session().api.channels.folders(to).catch(() => null);
    if (mine !== run.current || !l) return;
    setList(l);
    setAt(0);
  }, []);

  useEffect(() => {
    const last = loadChoice(LAST);
    void (async () => {
      if (!last || !(await go(last))) await go(""); // the kept one may be gone
    })();
  }, [go]);

  const sep = separatorOf(list?.path ?? path);
  const { dir, start } = typing ? splitTyped(path, sep) : { dir: "", start: "" };
  const here = list !== null && typing && dir !== "" && samePath(dir, list.path); // what is typed filters what is shown
  const fits = shownFolders(list?.entries ?? [], here ? start : "", hidden);
  const rows = list ? [...(hasParent(list) && !(here && start) ? [{ name: "..", path: list.parent }] : []), ...fits] : [];
  const more = (list?.entries ?? []).length - shownFolders(list?.entries ?? [], "", false).length;
  const typeAhead = useTypeAhead(rows.map((r) => r.name), at, list?.path);
  useEffect(() => {
    box.current?.querySelector(`[data-row="${at}"]`)?.scrollIntoView({ block: "nearest" });
  }, [at, list]);

  function enter(i: number) {
    const r = rows[i];
    if (r && list) void go(r.path, list.path);
  }

  function show(all: boolean) {
    setHidden(all);
    saveChoice(HIDDEN, all ? "yes" : "");
    setAt(0);
  }

  function type(text: string) {
    setPath(text);
    setTyping(true);
    setAt(0);
    const to = splitTyped(text, sep).dir;
    if (list && to && !samePath(to, list.path)) void peek(to);
  }

  function onPathKey(e: KeyboardEvent) {
    if (e.key === "ArrowDown") box.current?.focus();
    else if (e.key === "Tab" && !e.shiftKey && here && completed(path, fits, sep)) type(completed(path, fits, sep));
    else return;
    e.preventDefault();
  }

  async function open(folder: string) {
    setBusy(true);
    setFailure(null);
    try {
      await addFolder(folder);
      saveChoice(LAST, list && samePath(folder, list.path) ? list.parent : (list?.path ?? "")); // its neighbours are opened next
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
      ".": () => show(!hidden),
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
    else if (list && samePath(typed, list.path)) void open(list.path);
    else if (here && fits.length === 1 && fits[0]) void go(fits[0].path);
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
        <input id="folder-path" className="field mono" value={path} spellCheck={false} autoComplete="off" aria-describedby="folder-keys" onChange={(e) => type(e.target.value)} onKeyDown={onPathKey} />
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
        {list && fits.length === 0 && <p className="folders-empty">{here && start ? "No folder in here begins so." : more > 0 && !hidden ? "Only hidden folders in here. You can open this one." : "No folders in here. You can open this one."}</p>}
      </div>
      {!list && !failure && <p className="folders-empty" role="status">{slow ? "Reading the folder" : ""}</p>}
      <div className="folders-foot">
        <p className="hint" id="folder-keys">Tab completes the path. In the list arrows move, Enter goes in, Backspace goes up, letters jump.</p>
        <label><input type="checkbox" checked={hidden} onChange={(e) => show(e.target.checked)} /> Hidden folders{more > 0 && !hidden ? ` (${more})` : ""} <Kbd>.</Kbd></label>
      </div>
    </Modal>
  );
}

function hasParent(l: FolderList): boolean {
  return l.parent !== "" && l.parent !== l.path;
}
