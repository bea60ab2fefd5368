// Says which rule an answer has written, and offers to undo it.
import type { Approval, LoopEvent } from "../api/types";
import { rememberedBy, rememberedWords } from "../model/gate-remembered";
import { batchListeners, toast, toastFailure } from "../model/stores";
import { session } from "./session";

/** Says it of answers from anywhere (window, dialog, command line) while the page is in sight, until the returned function is called. */
export function tellRemembered(): () => void {
  const listen = (batch: LoopEvent[]) => {
    for (const ev of batch) {
      const a = rememberedBy(ev);
      if (a && inSight()) tell(a).catch(() => undefined); // the answer itself holds
    }
  };
  batchListeners.add(listen);
  return () => void batchListeners.delete(listen);
}

async function tell(a: Approval) {
  const said = rememberedWords(await session().api.gateRules.list(a.channel_id, ""), a);
  if (!said || !inSight()) return;
  const undo = () => void session().api.gateRules.undo(a.channel_id, said.undo).then(() => toast("Undone. The next such call is asked about again."), toastFailure);
  toast(said.text, null, { name: "Undo", run: undo });
}

const inSight = () => document.visibilityState !== "hidden";
