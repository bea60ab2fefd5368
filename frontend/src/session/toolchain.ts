import type { ChannelID, ProjectToolchain, SettingsView } from "../api/types";
import { frameStore } from "../model/stores";
import { toDecide } from "../model/toolchain";
import { retryRun } from "./actions";
import { session } from "./session";

export const readToolchain = (channel: ChannelID): Promise<SettingsView> => session().api.settings.get(channel);

/** Stores the decision on exactly the text that was shown. */
export async function decideToolchain(channel: ChannelID, t: ProjectToolchain, build: boolean): Promise<void> {
  const { settings } = session().api;
  await (build ? settings.approve(channel, t.path, t.sha256) : settings.decline(channel, t.path, t.sha256));
  frameStore.setState((f) => ({ trust: Object.fromEntries(Object.entries(f.trust).filter(([ch, asked]) => ch !== channel || asked.path !== t.path)) }));
}

/** Runs again without the image that could not be built. */
export async function withoutToolchain(channel: ChannelID, runId: string): Promise<void> {
  const t = toDecide(await readToolchain(channel));
  if (t && t.state !== "declined") await decideToolchain(channel, t, false);
  await retryRun(runId);
}

export const readOutput = () => session().api.system.buildOutput();
