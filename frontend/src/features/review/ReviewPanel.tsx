import { Columns2, RotateCw, Rows3 } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import type { ChannelID, ReviewFile, ReviewHunk } from "../../api/types";
import { keepData } from "../../dock/layouts";
import { arrive, leave } from "../../dock/visit";
import type { PanelID } from "../../model/dock/layout";
import { clock } from "../../model/clock";
import { plural } from "../../model/format";
import { lastRun } from "../../model/playback/store";
import type { Acceptable, Comment, ReviewKept, Seen, Shown } from "../../model/review";
import { acceptable, alsoSeen, bulk, commentsStore, firstChange, hasNoList, isGuarded, linesOf, listed, nameOf, reviewStore, runSentence, totalsOf, unseen } from "../../model/review";
import { announce, timelineOf, timelinesStore, toast } from "../../model/stores";
import { newId } from "../../session/actions";
import { commentsOf, isSplit, keepSplit, openInFiles, recallComments, sendComments, setComments, show, typeComment, typedComment } from "../../session/review";
import { openInEditor } from "../../session/openfile";
import { session } from "../../session/session";
import { Button, IconButton, KeyOf } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { meaning, mod } from "../../ui/keys";
import { SafeLine } from "../../ui/SafeText";
import type { CommentActs, HunkActs, Writing } from "./acts";
import { ReviewFileView } from "./ReviewFileView";
import { CommentsBar, CommitBar, StateBar } from "./ReviewFoot";
import { ReviewList } from "./ReviewList";
import { focusHunks, useKeyboard } from "./useKeyboard";
import { useRejected, useReview } from "./useReview";
import { useWidth } from "./useWidth";
import "./review.css";
import "./reviewlines.css";

const UNIFIED_PX = 640; // below, two columns have no room
const LIST_PX = 480; // up to it, the list or the file is shown, as in review.css

/** What changed in a channel's folder, decided about hunk by hunk. */
export function ReviewPanel({ channelId, panelId, kept }: { channelId: ChannelID; panelId: PanelID; kept: ReviewKept | null }) {
  const panel = useRef<HTMLElement>(null);
  const asked = useStore(reviewStore, (all) => all[channelId]) ?? kept;
  const shown = asked?.shown ?? "worktree";
  const chosen = asked?.run ?? "";
  const [path, setPath] = useState(kept?.path ?? "");
  const [hunk, setHunk] = useState(0);
  const [line, setLine] = useState(-1); // within the hunk; -1 is the first that changed
  const [front, setFront] = useState(false);
  const [split, setSplit] = useState(isSplit);
  const [opened, setOpened] = useState(""); // by the person, as long as it is in sight
  const [seen, setSeen] = useState<Seen>(new Map());
  const [writing, setWriting] = useState<Writing>(null);
  const [message, setMessage] = useState("");
  const { status, failure, reading, read, busy: work, act, file } = useReview(channelId, panel, shown, chosen, path);
  const { reject, undo } = useRejected(channelId, act);
  const width = useWidth(panel);
  const wide = width >= UNIFIED_PX;
  useEffect(() => recallComments(channelId), [channelId]);
  const comments = useStore(commentsStore, (all) => commentsOf(all, channelId));
  const timeline = useStore(timelinesStore, (all) => timelineOf(all, channelId));
  const run = timeline.built.runs[chosen];
  const last = lastRun(timeline.built);
  const ofRun = shown === "run" || shown === "turn";
  useEffect(() => keepData(channelId, panelId, { shown, run: chosen, path }), [channelId, panelId, shown, chosen, path]);
  const files = useMemo(() => listed(status?.files ?? []), [status]);
  const totals = totalsOf(files);
  const busy = work !== "";
  const at = files.find((f) => f.path === path) ?? files[0];
  const hunks = file?.diff?.hunks ?? [];
  const here = hunks[Math.min(hunk, hunks.length - 1)];
  const lineOf = (h: ReviewHunk) => (line < 0 ? firstChange(linesOf(h)) : line);
  const keyboard = useKeyboard(panel, `${Math.min(hunk, hunks.length - 1)} ${path}`, file !== null);
  const editable = Boolean(status?.editable);
  const since = file?.diff?.since || at?.since || "";
  const decides = editable && !since;

  const some = files.length > 0;
  useEffect(() => { // the panel had the keyboard while the list was read
    if (document.activeElement === panel.current) panel.current?.querySelector<HTMLElement>(".review-list")?.focus();
  }, [some]);

  const choose = (f: ReviewFile | undefined, to = 0) => {
    if (!f || f.path === path) return;
    setPath(f.path);
    setHunk(to);
    setLine(-1);
    setWriting(null);
    setOpened(f.path);
  };
  if (at && at.path !== path) { // the first file, or the one in the place of a file that is done
    setPath(at.path);
    setHunk(0);
    setLine(-1);
    setOpened("");
  }
  const drawn = front || width > LIST_PX; // a narrow panel shows the list or the file
  const diff = drawn && opened && opened === path && decides ? file?.diff : null;
  useEffect(() => { if (diff) setSeen((s) => alsoSeen(s, diff)); }, [diff]);
  useEffect(() => { // the panel had the keyboard while the changes were read
    if (document.activeElement === panel.current) panel.current?.querySelector<HTMLElement>(".review-list")?.focus();
  }, [status]);
  const toList = () => {
    setFront(false);
    requestAnimationFrame(() => panel.current?.querySelector<HTMLElement>(".review-list")?.focus());
  };
  const toHunks = () => {
    setFront(true);
    if (at) setOpened(at.path);
    requestAnimationFrame(() => focusHunks(panel.current));
  };
  const stepFile = (by: number) => choose(files[Math.min(files.length - 1, Math.max(0, files.findIndex((f) => f.path === at?.path) + by))]);
  const stepHunk = (by: number) => {
    const to = Math.min(hunk, hunks.length - 1) + by;
    setLine(-1);
    if (to >= 0 && to < hunks.length) setHunk(to);
    else choose(files[files.findIndex((f) => f.path === at?.path) + by], by > 0 ? 0 : Number.MAX_SAFE_INTEGER);
  };
  const stepLine = (by: number) => {
    if (!here) return;
    const to = lineOf(here) + by;
    if (to >= 0 && to < linesOf(here).length) setLine(to);
    else stepHunk(by);
  };

  const { review } = session().api;
  const stage = async (f: ReviewFile, what: Acceptable | null | undefined) => {
    if (what) await review.stage(channelId, f.path, what.hunks, what.mark);
  };
  // Of the file in sight exactly what is shown is accepted.
  const acceptFile = () => at && decides && file?.diff && act("Accepting", async () => {
    await stage(at, file.diff && acceptable(file.diff));
    announce(`${nameOf(at.path).name} is accepted.`);
  });
  const acts: HunkActs = {
    accept: (h) => at && void (isGuarded(at.path) ? acceptFile() : act("Accepting", () => review.stage(channelId, at.path, [h.id], ""))),
    takeBack: (h) => at && void act("Taking back", () => review.unstage(channelId, at.path, [h.id])),
    reject: (h) => at && void reject(at.path, h.id),
  };
  const all = bulk(files, seen);
  // Of what reaches further only what was seen is accepted. What is refused is to be opened again.
  const acceptAll = () => act("Accepting", async (say) => {
    for (const [i, f] of all.entries()) {
      say(`Accepting ${i + 1} of ${all.length}`);
      if (!f.alarm) await stage(f, acceptable(await review.file(channelId, { kind: "worktree" }, f.path)));
      else await stage(f, seen.get(f.path)).catch((err: unknown) => { setSeen((s) => unseen(s, f.path)); throw err; });
    }
  });
  const takeBack = () => act("Taking back", async () => {
    for (const f of files) if (f.staged > 0) await review.unstage(channelId, f.path, []);
  });
  const commit = () => act("Committing", async () => {
    const made = await review.commit(channelId, message);
    setMessage("");
    toast(`Committed ${made.id}.`);
  });
  const edit = () => at && !isGuarded(at.path) && at.kind !== "D" && void openInEditor(channelId, { path: at.path, line: here ? linesOf(here)[lineOf(here)]?.newNo || here.new : 0 });
  const notes: CommentActs = {
    begin: (id, i) => {
      setHunk(Math.max(0, hunks.findIndex((h) => h.id === id)));
      setLine(i);
      setWriting({ hunk: id, line: i });
    },
    draft: () => typedComment(channelId),
    type: (text) => typeComment(channelId, text),
    cancel: () => { typeComment(channelId, ""); setWriting(null); toHunks(); },
    save: (text) => {
      const h = hunks.find((x) => x.id === writing?.hunk);
      const l = h && linesOf(h)[writing?.line ?? -1];
      if (at && l) setComments(channelId, [...commentsOf(commentsStore.getState(), channelId), { id: newId(), path: at.path, line: l.newNo || l.oldNo, old: l.kind === "del", quote: l.text, text: text.trim() }]);
      typeComment(channelId, "");
      setWriting(null);
      toHunks();
    },
    remove: (c: Comment) => setComments(channelId, comments.filter((x) => x.id !== c.id)),
  };
  const sendAll = () => {
    const n = commentsOf(commentsStore.getState(), channelId).length;
    if (sendComments(channelId)) toast(`${plural(n, "comment")} sent as one prompt.`);
  };

  function onKeyDown(e: KeyboardEvent) {
    const to = e.target as HTMLElement;
    const typing = to.matches("input, textarea");
    const does = (f: (() => unknown) | undefined) => {
      if (!f) return;
      e.preventDefault();
      e.stopPropagation();
      f();
    };
    if (mod(e) && e.shiftKey && e.key === "Enter") return does(sendAll);
    if (typing) return e.key === "Escape" ? does(toList) : undefined;
    const key = meaning("review", e);
    const list = to.matches(".review-list, .review");
    const free = here && decides && !busy;
    const whole = Boolean(file?.diff?.whole && file.diff.whole !== "binary");
    const keys: Record<string, (() => unknown) | undefined> = {
      "review.undo": () => void undo(), "review.next": () => stepHunk(1), "review.previous": () => stepHunk(-1), "review.accept-file": () => void acceptFile(), "review.read": () => void read(),
      "review.open": () => at && !isGuarded(at.path) && openInFiles(channelId, at.path),
      "review.edit": edit,
      "review.accept": () => free && (here.staged ? acts.takeBack(here) : !whole && acts.accept(here)), "review.reject": () => free && !here.staged && !whole && at && !isGuarded(at.path) && acts.reject(here),
      "review.comment": () => here && linesOf(here).length > 0 && notes.begin(here.id, lineOf(here)), Escape: () => (list ? leave(e.currentTarget as HTMLElement) : toList()),
      ...(list ? { ArrowDown: () => stepFile(1), ArrowUp: () => stepFile(-1), Home: () => choose(files[0]), End: () => choose(files.at(-1)), Enter: toHunks, " ": toHunks } : {}),
      ...(to.closest(".review-lines") ? { ArrowDown: () => stepLine(1), ArrowUp: () => stepLine(-1) } : {}),
    };
    does(keys[key]);
  }

  const segment = (id: Shown, name: string) => (
    <button type="button" role="radio" aria-checked={shown === id} className={shown === id ? "on" : ""} onClick={() => show(channelId, id, chosen)}>{name}</button>
  );
  const none = status && (hasNoList(status.state) ? status.detail : files.length === 0 ? (ofRun ? "The run changed no files." : "Nothing changed.") : "");
  return (
    <section className={`review ${front ? "review-front" : ""}`} ref={panel} aria-label="Review" tabIndex={-1} onFocus={(e) => { arrive(e); keyboard.onFocus(e); }} onBlur={keyboard.onBlur} onKeyDown={onKeyDown} data-region="review" aria-busy={busy}>
      <header className="review-head">
        <div className="review-switch" role="radiogroup" aria-label="What is shown">
          {chosen && segment("run", run ? `Run ${clock(run.startedAt || run.seenAt)}` : "Run")}
          {(shown === "turn" || (last && last !== chosen)) && segment("turn", "Last turn")}
          {segment("worktree", "Worktree")}
          {status?.base && segment("branch", `Since ${status.base}`)}
        </div>
        {files.length > 0 && <span className="tnum review-total">{plural(files.length, "file")}{status?.more && " and more"}, <span className="plus">+{totals.added}</span> <span className="minus">−{totals.removed}</span></span>}
        <span className="review-work" role="status">{work}</span>
        <span className="grow" />
        <span className="review-hints" aria-hidden><KeyOf of="review.next" /> <KeyOf of="review.previous" /> hunk <KeyOf of="review.comment" /> comment</span>
        {wide && (
          <div className="review-switch" role="radiogroup" aria-label="How it is shown">
            {([[true, "Split", Columns2], [false, "Unified", Rows3]] as const).map(([on, name, Icon]) => (
              <button key={name} type="button" role="radio" aria-checked={split === on} className={split === on ? "on" : ""} onClick={() => { setSplit(on); keepSplit(on); }}><Icon size={13} aria-hidden /> {name}</button>
            ))}
          </div>
        )}
        <IconButton name="Read again" action="review.read" small disabled={reading} onClick={() => void read()}><RotateCw size={14} className={reading ? "spin" : ""} aria-hidden /></IconButton>
      </header>
      {failure && <div className="review-pad"><FailureCard failure={failure}><Button look="small" onClick={() => void read()}>Try again</Button>{ofRun && <Button look="small" onClick={() => show(channelId, "worktree")}>Show the worktree</Button>}</FailureCard></div>}
      {!failure && status && runSentence(status) && <p className="review-note"><SafeLine text={runSentence(status)} /></p>}
      {!status && !failure && <div className="review-pad" role="status" aria-label="Reading what changed">{[60, 45, 70].map((w) => <div key={w} className="skeleton" style={{ width: `${w}%` }} />)}</div>}
      {status && !failure && <StateBar state={status.state} busy={busy} onProceed={(abort) => void act(abort ? "Aborting" : "Continuing", () => review.proceed(channelId, abort))} />}
      {none && !failure && <div className="dock-empty"><p>{none}</p>{ofRun && <Button look="small" onClick={() => show(channelId, "worktree")}>Show the worktree</Button>}</div>}
      {!none && !failure && at && (
        <div className="review-body">
          <ReviewList files={files} at={at.path} comments={comments} onChoose={choose} onOpen={toHunks} />
          <ReviewFileView key={at.path} f={at} state={file} hunk={Math.min(hunk, hunks.length - 1)} line={here ? lineOf(here) : 0} split={split && wide} editable={decides} since={editable || since === "edited" ? since : ""} busy={busy}
            acts={acts} writing={writing} comments={comments.filter((c) => c.path === at.path)} notes={notes}
            onHunk={(i) => { if (i !== hunk) { setHunk(i); setLine(-1); } }} onAcceptFile={() => void acceptFile()} onOpen={() => openInFiles(channelId, at.path)} onEdit={edit} onBack={toList} onWorktree={() => show(channelId, "worktree", chosen)} onAgain={() => void read()} />
        </div>
      )}
      <CommentsBar comments={comments} onSend={sendAll} onRemove={notes.remove} />
      {status && !failure && !hasNoList(status.state) && editable && (
        <CommitBar status={status} totals={totals} busy={busy} message={message} bulk={all.length} onMessage={setMessage} onCommit={() => void commit()}
          onBranch={(name) => act("Making the branch", () => review.branch(channelId, name))} onAcceptAll={() => void acceptAll()} onTakeBack={() => void takeBack()} />
      )}
    </section>
  );
}
