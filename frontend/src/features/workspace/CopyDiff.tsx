import { ArrowLeft } from "lucide-react";
import { useMemo } from "react";
import type { ChannelID, CopyDifference } from "../../api/types";
import { insertWord } from "../../model/files";
import { draftsStore } from "../../model/stores";
import { countsOf, sideBySide, stateSentence, wayOf } from "../../model/workspace";
import { focusPrompt } from "../../session/actions";
import { draftOf, setDraft } from "../../session/drafts";
import { Button, IconButton } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { SafeLine, SafeText } from "../../ui/SafeText";
import { useTexts } from "./useComparison";

type Props = { channelId: ChannelID; d: CopyDifference; busy: boolean; onBring(way: "promote" | "pull"): void; onBack(): void };

function askToMerge(channelId: ChannelID, path: string) {
  const draft = draftOf(draftsStore.getState(), channelId);
  setDraft(channelId, insertWord(draft, draft.length, `${path} was changed in your copy and in the original, which you cannot see. Tell me what your change is for, so that I can bring both together.`).text);
  focusPrompt();
}

/** One file in both folders, and what can be done about it. */
export function CopyDiff({ channelId, d, busy, onBring, onBack }: Props) {
  const texts = useTexts(channelId, d.path, d.mark);
  const pairs = useMemo(() => texts && !texts.failure && sideBySide(texts.original, texts.copy), [texts]);
  const counts = pairs ? countsOf(pairs) : null;
  const way = wayOf(d);
  return (
    <div className="workspace-diff">
      <div className={`workspace-diff-head ${way === "choose" ? "workspace-both" : ""}`}>
        <span className="workspace-back"><IconButton name="Back to the list" small onClick={onBack}><ArrowLeft size={14} aria-hidden /></IconButton></span>
        <h2 className="mono ellipsis" title={d.path}><SafeLine text={d.path} /></h2>
        <span className="workspace-fact">{stateSentence(d)}</span>
        {counts && <span className="workspace-fact tnum"><span className="plus">+{counts.added}</span> <span className="minus">−{counts.removed}</span></span>}
        <span className="grow" />
        {way !== "promote" && <Button look="small" disabled={busy} onClick={() => onBring("pull")}>{way === "choose" ? "Keep the original’s" : "Pull into the copy"}</Button>}
        {way !== "pull" && <Button look="small" disabled={busy} onClick={() => onBring("promote")}>{way === "choose" ? "Take the copy’s" : "Promote to the original"}</Button>}
        {way === "choose" && <Button look="small" onClick={() => askToMerge(channelId, d.path)}>Ask Claude to merge</Button>}
      </div>
      {!texts && <div className="workspace-pad" role="status" aria-label="Reading the file">{[60, 45, 70].map((w, i) => <div key={i} className="skeleton" style={{ width: `${w}%` }} />)}</div>}
      {texts?.failure && <div className="workspace-pad"><FailureCard failure={texts.failure} /></div>}
      {pairs === null && texts && <div className="dock-empty"><p>The two are too different to show side by side.</p></div>}
      {pairs && (
        <div className="workspace-text selectable" tabIndex={0} role="group" aria-label={`Difference of ${d.path}`}>
          <table>
            <colgroup><col className="no" /><col /><col className="no" /><col /></colgroup>
            <thead className="sr-only"><tr><th scope="col">Line</th><th scope="col">Original</th><th scope="col">Line</th><th scope="col">Copy</th></tr></thead>
            <tbody>
              {pairs.map((p, i) => (p.kind === "cut" ? <tr key={i} className="workspace-cut"><td colSpan={4}>⋯</td></tr> : (
                <tr key={i} className={p.kind === "change" ? "workspace-change" : ""}>
                  <td className="no tnum">{p.leftNo || ""}</td>
                  <td className={p.kind === "change" ? (p.leftNo ? "workspace-del" : "workspace-gap") : ""}><SafeText text={p.left} /></td>
                  <td className="no tnum">{p.rightNo || ""}</td>
                  <td className={p.kind === "change" ? (p.rightNo ? "workspace-add" : "workspace-gap") : ""}><SafeText text={p.right} /></td>
                </tr>
              )))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
