// Quitting Loop and closing its window, on the page's side.
import { toFailure } from "../../api/failure";
import { leavingStore, nothingAsked } from "../../model/leaving";
import { session, toastFailure } from "../frame/session";

/** Only the window has a process of its own to end; a browser shows what another one started. */
export const canQuit = () => session().kind === "window";

/** Ends Loop at once if nothing needs it, else asks. */
export async function quit() {
  if (leavingStore.getState().asking) return;
  await look();
  const { facts, failure } = leavingStore.getState();
  if (facts?.stays || failure) leavingStore.setState({ asking: "quit" });
  else quitNow();
}

/** The window wants a person to be asked; the dialog says by itself that it is there. */
export function asked(what: unknown) {
  if (what !== "close" && what !== "quit") return;
  if (leavingStore.getState().asking === what) dialogIsThere(); // since the last time
  leavingStore.setState({ asking: what });
  void look();
}

/** Reads what is under way. */
export async function look() {
  try {
    const facts = await session().api.system.leaving();
    leavingStore.setState({ facts, failure: null });
  } catch (err) {
    leavingStore.setState({ facts: null, failure: toFailure(err) });
  }
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
