// The person's own Claude set-up: read from Loop, and answered about once.
import type { ClaudeSetupView, ConfigStatus } from "../api/types";
import { claudeSetupStore } from "../model/claude-setup";
import { loadChoice, recallListeners, saveChoice } from "../shell/memory";
import { session } from "./session";

const LATER = "setup.later";

const recalled = () => claudeSetupStore.setState({ later: loadChoice(LATER) !== "" });
recallListeners.add(recalled);
recalled();

/** Reads what there is, and what the settings say of it. */
export async function readSetup(): Promise<ClaudeSetupView> {
  const view = await session().api.settings.claudeSetup();
  claudeSetupStore.setState({ view });
  return view;
}

let readFor: ConfigStatus | null = null;

/** Reads it once for each change of the settings, and not if nobody is to be asked. */
export function followSetup(config: ConfigStatus) {
  if (readFor === config || claudeSetupStore.getState().later) return;
  readFor = config;
  readSetup().catch(() => undefined); // the dialog says why it cannot be read
}

/** Stores the answer: what may come of what needs a yes, or null for nothing of it all. */
export async function answerSetup(allow: string[] | null) {
  const set = session().api.settings.set;
  // The grant is last, so that it never comes with an earlier, longer list.
  if (allow) await set("global", "", "claude_setup_allow", allow);
  await set("global", "", "claude_setup", allow ? "read" : "none");
  const { view } = claudeSetupStore.getState();
  if (view) claudeSetupStore.setState({ view: { ...view, grant: allow ? "read" : "none" } });
}

export function askLater() {
  saveChoice(LATER, "yes");
  claudeSetupStore.setState({ later: true });
}
