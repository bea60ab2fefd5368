// Builds one of OpenClaw's images. Its progress is asked for, as events tell of the agent image.
import { toastFailure } from "../model/stores";
import { sandboxStore } from "../model/sandboxImage";
import { session } from "./session";

const LOOK = 1000; // ms between two looks at the progress

export async function buildSandboxImage(kind: string) {
  if (sandboxStore.getState().state === "building") return;
  const { system } = session().api;
  sandboxStore.setState({ kind, state: "building", step: "", progress: 0 });
  let looking = false;
  const look = setInterval(() => {
    if (looking) return;
    looking = true;
    system.sandboxImageStatus(kind)
      .then((st) => { if (st.state === "building") sandboxStore.setState({ step: st.step ?? "", progress: st.progress ?? 0 }); })
      .catch(() => undefined) // the build itself says what is wrong
      .finally(() => { looking = false; });
  }, LOOK);
  try {
    await system.buildSandboxImage({ kind });
    sandboxStore.setState({ state: "ready" });
  } catch (err) {
    sandboxStore.setState({ state: "" });
    toastFailure(err);
  } finally {
    clearInterval(look);
  }
}
