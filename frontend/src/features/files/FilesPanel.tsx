import { CornerLeftUp, RotateCw, Search } from "lucide-react";
import type { FormEvent, KeyboardEvent } from "react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import { keepData } from "../../dock/layouts";
import { arrive, leave } from "../../dock/visit";
import type { PanelID } from "../../model/dock/layout";
import { fileVisitStore } from "../../model/fileplace";
import { above, rowsOf, rowWords } from "../../model/file-tree";
import type { FilesKept, TreeRow } from "../../model/file-tree";
import { Button, IconButton, Kbd, KeyOf } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { isTypeAheadKey, useTypeAhead } from "../../ui/useTypeAhead";
import { FilePreview } from "./FilePreview";
import { FileTree, rowKey } from "./FileTree";
import { useFolders } from "./useFolders";
import { usePreview } from "./usePreview";
import { meaning } from "../../ui/keys";
import "./files.css";

/** The files of a channel as its container has them, and a look into the chosen one. */
export function FilesPanel({ channelId, panelId, kept }: { channelId: ChannelID; panelId: PanelID; kept: FilesKept | null }) {
  const panel = useRef<HTMLElement>(null);
  const { folders, reading, read, again } = useFolders(channelId, panel);
  const [root, setRoot] = useState("");
  const [typed, setTyped] = useState<string | null>(null); // into the field with the path
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [filter, setFilter] = useState("");
  const [at, setAt] = useState("");
  const [file, setFile] = useState(kept?.file ?? "");
  const [named, setNamed] = useState({ path: kept?.file ?? "", at: kept?.line ?? 0, visit: 0 }); // where a text has led to
  const [front, setFront] = useState(Boolean(kept)); // where there is room for one, the file is in front of the list
  const [times, setTimes] = useState(0);
  const find = useRef<HTMLInputElement>(null);
  const rows = useMemo(() => rowsOf(root, folders, open, filter), [root, folders, open, filter]);
  const place = rows.findIndex((r) => rowKey(r) === at);
  const typeAhead = useTypeAhead(rows.map(rowWords), place, root);
  const { shown, failure } = usePreview(channelId, file, times);
  useEffect(() => keepData(channelId, panelId, file ? { file, line: named.path === file ? named.at : 0 } : null), [channelId, panelId, file, named]);
  const rootFailure = folders.get(root)?.failure ?? null;

  const goes = useRef(0); // of several, the last one counts, in whatever order they are answered
  const go = (path: string) => {
    const mine = ++goes.current;
    void read(path).then((to) => {
      if (mine !== goes.current) return;
      setRoot(to);
      setTyped(null);
      setFilter("");
    });
  };
  useEffect(() => {
    const mine = ++goes.current;
    void read("").then((to) => mine === goes.current && setRoot(to));
  }, [read]);
  useEffect(() => { // the panel had the keyboard while the folder was read
    if (document.activeElement === panel.current) panel.current?.querySelector<HTMLElement>(".files-tree")?.focus();
  }, [root]);

  const turn = (r: TreeRow, to: boolean) => {
    if (r.kind !== "file") return;
    setOpen((o) => new Set(to ? [...o, r.path] : [...o].filter((p) => p !== r.path)));
    if (to && !folders.get(r.path)?.listing) void read(r.path);
  };
  const choose = (r: TreeRow | undefined) => {
    if (!r) return;
    setAt(rowKey(r));
    if (r.kind === "file" && !r.folder) setFile(r.path);
  };
  const enter = (r: TreeRow | undefined) => {
    if (r?.kind === "word") return void (r.failure && read(r.path));
    if (!r) return;
    if (r.folder) return turn(r, !r.open);
    setFile(r.path);
    setFront(true);
    requestAnimationFrame(() => panel.current?.querySelector<HTMLElement>(".files-text, .files-picture")?.focus());
  };
  const toTree = () => {
    setFront(false);
    requestAnimationFrame(() => panel.current?.querySelector<HTMLElement>(".files-tree")?.focus());
  };
  const step = (by: number) => choose(rows[Math.min(rows.length - 1, Math.max(0, place < 0 ? 0 : place + by))]);
  const row = rows[place];
  const left = () => (row?.kind === "file" && row.open ? turn(row, false) : choose(rows.findLast((r, i) => i < place && r.level < (row?.level ?? 0))));
  const right = () => (row?.kind === "file" && row.folder ? (row.open ? step(1) : turn(row, true)) : undefined);

  function onKeyDown(e: KeyboardEvent) {
    const to = e.target as HTMLElement;
    if (to.matches("input")) {
      if (e.key !== "Escape") return;
      e.stopPropagation();
      if (to === find.current && filter) setFilter("");
      else if (typed !== null) setTyped(null);
      else toTree();
      return;
    }
    if (to.closest(".files-preview")) {
      if (e.key !== "Escape") return;
      e.preventDefault();
      e.stopPropagation();
      toTree();
      return;
    }
    if (!to.matches(".files-tree, .files")) return;
    const does: Record<string, () => void> = {
      ArrowDown: () => step(1), ArrowUp: () => step(-1), PageDown: () => step(20), PageUp: () => step(-20), Home: () => step(-rows.length), End: () => step(rows.length),
      ArrowLeft: left, ArrowRight: right, Enter: () => enter(row), " ": () => enter(row), "files.above": () => go(above(root)), "files.read": () => refresh(),
      "files.filter": () => find.current?.focus(), Escape: () => leave(e.currentTarget as HTMLElement),
    };
    const f = does[meaning("files", e)] ?? (isTypeAheadKey(e) ? () => choose(rows[typeAhead(e.key)]) : undefined);
    if (!f) return;
    e.preventDefault();
    e.stopPropagation();
    f();
  }
  const refresh = () => {
    void again();
    setTimes((n) => n + 1);
  };
  const visit = useStore(fileVisitStore, (v) => (v.channel === channelId ? v.visit : 0));
  useEffect(() => {
    const { path, line, visit: n } = fileVisitStore.getState();
    if (!visit || visit !== n || !path) return;
    fileVisitStore.setState({ path: "" });
    setFile(path);
    if (path === file) setTimes((x) => x + 1); // it may have changed since it was read
    setNamed({ path, at: line, visit });
    setFront(true);
    requestAnimationFrame(() => panel.current?.querySelector<HTMLElement>(".files-preview")?.focus({ preventScroll: true }));
  }, [visit, file]);
  const submit = (e: FormEvent) => {
    e.preventDefault();
    if (typed?.trim()) go(typed.trim());
    toTree();
  };

  return (
    <section className={`files ${front ? "files-front" : ""}`} ref={panel} aria-label="Files of the container" tabIndex={-1} onFocus={arrive} onKeyDown={onKeyDown} data-region="files">
      <header className="files-head">
        <IconButton name="Folder above" action="files.above" small disabled={root === "/" || !root} onClick={() => go(above(root))}><CornerLeftUp size={14} aria-hidden /></IconButton>
        <form className="files-path" onSubmit={submit}>
          <input className="field mono" aria-label="Folder" spellCheck={false} value={typed ?? root} onChange={(e) => setTyped(e.target.value)} />
        </form>
        <label className="files-find">
          <Search size={13} aria-hidden />
          <input ref={find} className="field" type="search" aria-label="Filter by name" placeholder="Filter" value={filter} onChange={(e) => setFilter(e.target.value)} />
        </label>
        <IconButton name="Read again" action="files.read" small disabled={reading} onClick={refresh}><RotateCw size={14} className={reading ? "spin" : ""} aria-hidden /></IconButton>
      </header>
      {rootFailure ? (
        <div className="files-pad">
          <FailureCard failure={rootFailure}>
            <Button look="small" onClick={() => go(root)}>Try again</Button>
            {root !== "" && <Button look="small" onClick={() => go("")}>To the agents’ folder</Button>}
          </FailureCard>
        </div>
      ) : (
        <div className="files-body">
          <div className="files-list">
            {rows.length > 0 ? <FileTree rows={rows} at={at} onChoose={(r) => { choose(r); if (r.kind === "file" && r.folder) turn(r, !r.open); else if (r.kind === "file") setFront(true); }} />
              : <div className="dock-empty"><p>No name in the open folders fits.</p><Button look="small" onClick={() => setFilter("")}>Show all</Button></div>}
            <p className="files-foot" aria-hidden><Kbd>← →</Kbd> fold &nbsp; <Kbd>Enter</Kbd> look inside &nbsp; <KeyOf of="files.filter" /> filter &nbsp; <KeyOf of="files.above" /> folder above</p>
          </div>
          <div className="files-right">
            {file ? <FilePreview key={file} line={named.path === file ? named.at : 0} visit={named.visit} channelId={channelId} path={file} shown={shown} failure={failure} onAgain={() => setTimes((n) => n + 1)} onBack={toTree} />
              : <div className="dock-empty"><p>Choose a file to look inside. These are the files as the container has them.</p></div>}
          </div>
        </div>
      )}
    </section>
  );
}
