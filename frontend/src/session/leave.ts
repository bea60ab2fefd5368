// Quitting Loop and closing its window, on the page's side.
import { toFailure } from "../api/failure";
import type { LeavingState } from "../model/leaving";
import { leavingStore, nothingAsked } from "../model/leaving";
import { focusPrompt, select } from "./actions";
import { reviewAsked } from "./gate";
import { session } from "./session";
import { toastFailure } from "../model/stores";

/** Only the window ends Loop with itself. A browser shows a Loop that was started elsewhere. */
export const canQuit = () => session().kind === "window";

/** Ends Loop at once if nothing needs it, else asks. */
export async function quit() {
  if (leavingStore.getState().asking) return;
  const seen = await look();
  if (leavingStore.getState().asking) return;
  if (seen.facts?.stays || seen.failure) leavingStore.setState({ asking: "quit", ...seen });
  else quitNow();
}

const REVIEW = "review:";
const OPEN = "open:"; // by a click on a notification of that channel

/**
 * Opens what the window wants the person to see: its own question, whose newly opened dialog
 * confirms itself that it is there, or what a native dialog was asked to show here.
 */
export function asked(what: unknown) {
  if (typeof what === "string" && what.startsWith(REVIEW)) {
    reviewAsked(what.slice(REVIEW.length));
    return;
  }
  if (typeof what === "string" && what.startsWith(OPEN)) {
    select(what.slice(OPEN.length));
    focusPrompt();
    return;
  }
  if (what !== "close" && what !== "quit") return;
  if (leavingStore.getState().asking === what) dialogIsThere(); // the dialog is open since an earlier request
  else leavingStore.setState({ ...nothingAsked, asking: what });
  void refresh();
}

/** Reads the work that is under way. */
async function look(): Promise<Pick<LeavingState, "facts" | "failure">> {
  try {
    return { facts: await session().api.system.leaving(), failure: null };
  } catch (err) {
    return { facts: null, failure: toFailure(err) };
  }
}

/** Updates the work under way in the open dialog, unless it has closed meanwhile. */
export async function refresh() {
  const { asking } = leavingStore.getState();
  const seen = await look();
  if (asking && leavingStore.getState().asking === asking) leavingStore.setState(seen);
}

export function cancel() {
  leavingStore.setState(nothingAsked);
}

export function quitNow() {
  cancel();
  session().api.system.quit().catch(toastFailure);
}

export function closeWindow() {
  cancel();
  session().api.system.hide().catch(toastFailure);
}

export function dialogIsThere() {
  session().api.system.answered().catch(toastFailure);
}
