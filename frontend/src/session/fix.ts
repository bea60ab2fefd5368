// What a check offers to put right, put right.
import { toFailure } from "../api/failure";
import { doctorStore } from "../model/stores";
import { session } from "./session";

/** Puts right what a check offers to, and shows the check as it is then. One at a time. */
export async function fix(id: string) {
  if (doctorStore.getState().fixing !== null || doctorStore.getState().phase === "running") return;
  doctorStore.setState({ fixing: id, failure: null });
  try {
    const now = await session().api.system.fix(id);
    const { report } = doctorStore.getState();
    doctorStore.setState({ report: report && { ...report, checks: (report.checks ?? []).map((c) => (c.id === id ? now : c)) } });
  } catch (err) {
    doctorStore.setState({ failure: toFailure(err) });
  } finally {
    doctorStore.setState({ fixing: null });
  }
}
