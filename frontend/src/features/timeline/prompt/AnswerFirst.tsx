import { CircleHelp } from "lucide-react";
import { useEffect, useState } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../../../api/types";
import { questionOf, typedAnswer } from "../../../model/questions";
import { draftsStore, frameStore, toastFailure } from "../../../model/stores";
import { Button, Kbd } from "../../../ui/Button";
import { keys, MOD } from "../../../ui/keys";
import { promptAfter } from "../../../session/actions";
import { answer, focusQuestion } from "../../../session/branches";
import { draftOf, setDraft } from "../../../session/drafts";
import { forget, kept } from "../../../session/questiondrafts";
import { attachOf, attachStore } from "./attach";
import { Line } from "./Banner";

/** asked: Enter was pressed, and nobody knows yet what the text is. give: takes it for the answer, as the next Enter does. */
export type Offer = { asked: boolean; give: { current: (() => void) | null } };

/** Stands above the prompt box while a question is open: it says why a prompt waits, and offers two ways out. */
export function AnswerFirst({ channelId, offer, onPrompt }: { channelId: ChannelID; offer: Offer; onPrompt(): void }) {
  const text = useStore(draftsStore, (d) => draftOf(d, channelId).trim());
  const onTheWay = useStore(attachStore, (all) => attachOf(all, channelId).of > 0);
  const q = useStore(frameStore, (f) => questionOf(f.questions, channelId));
  const [busy, setBusy] = useState(false);
  const may = Boolean(q && text) && !busy && !onTheWay;
  useEffect(() => {
    offer.give.current = may ? () => void give() : null;
  });
  if (!q) return null;
  const plan = q.kind === "exit_plan";
  async function give() {
    if (!q) return;
    setBusy(true);
    const toPrompt = promptAfter(channelId);
    try {
      await answer(q.question_id, typedAnswer(q, text, kept(q.question_id)));
      forget(q.question_id);
      if (draftOf(draftsStore.getState(), channelId).trim() === text) setDraft(channelId, ""); // else the draft was edited meanwhile
      toPrompt();
    } catch (err) {
      toastFailure(err);
    }
    setBusy(false);
  }
  return (
    <Line
      icon={<CircleHelp size={14} aria-hidden />}
      tone="need"
      text={plan ? "The agent waits for your word on its plan." : "The agent waits for your answer."}
      more={offer.asked ? "What is this text?" : text ? "Enter asks what this text is." : "A prompt is sent after it."}
    >
      {text && (
        <Button
          look="small"
          disabled={busy || onTheWay}
          title={onTheWay ? "Wait until the files are in the container" : undefined}
          onClick={() => void give()}
        >
          {busy ? "Sending" : plan ? "Send as changes" : "Answer the question"} {offer.asked && <Kbd>Enter</Kbd>}
        </Button>
      )}
      {text && offer.asked && <Button look="small" disabled={busy || onTheWay} onClick={onPrompt}>Send as next prompt <Kbd>{keys(MOD, "Enter")}</Kbd></Button>}
      <Button look="small" onClick={focusQuestion}>{plan ? "Go to the plan" : "Go to the question"}</Button>
    </Line>
  );
}
