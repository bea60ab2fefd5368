// The bind list: what the page may ask of Loop. One function per bound method.
import type {
  ChannelView, ConfigStatus, CredentialKind, DoctorReport, FolderList, Run, Snapshot, TimelinePage,
} from "./types";
import { toFailure } from "./failure";

export type Invoke = (service: string, method: string, args: unknown[]) => Promise<unknown>;

export type Api = ReturnType<typeof makeApi>;

export function makeApi(invoke: Invoke) {
  async function call<T>(service: string, method: string, ...args: unknown[]): Promise<T> {
    try {
      return (await invoke(service, method, args)) as T;
    } catch (err) {
      throw toFailure(err);
    }
  }
  return {
    channels: {
      add: (dir: string, name = "") => call<ChannelView>("Channels", "Add", dir, name),
      demo: () => call<ChannelView>("Channels", "Demo"),
      rename: (id: string, name: string) => call<null>("Channels", "Rename", id, name),
      remove: (id: string) => call<null>("Channels", "Remove", id),
      timeline: (id: string, beforeID: number, limit: number) =>
        call<TimelinePage>("Channels", "Timeline", id, beforeID, limit),
      pickFolder: () => call<string>("Channels", "PickFolder"),
      folders: (path: string) => call<FolderList>("Channels", "Folders", path),
      history: (id: string, limit: number) => call<string[] | null>("Channels", "History", id, limit),
    },
    runs: {
      prompt: (clientID: string, channelID: string, prompt: string) =>
        call<Run>("Runs", "Prompt", { client_id: clientID, channel_id: channelID, prompt }),
      cancel: (runID: string) => call<null>("Runs", "Cancel", runID),
      remove: (runID: string) => call<null>("Runs", "Remove", runID),
      retry: (runID: string) => call<Run>("Runs", "Retry", runID),
    },
    system: {
      snapshot: () => call<Snapshot>("System", "Snapshot"),
      doctor: () => call<DoctorReport>("System", "Doctor"),
      buildImage: () => call<null>("System", "BuildImage"),
      cancelImageBuild: () => call<null>("System", "CancelImageBuild"),
      setCredential: (kind: CredentialKind, value: string) => call<ConfigStatus>("System", "SetCredential", kind, value),
      setTheme: (theme: string) => call<null>("System", "SetTheme", theme),
      openURL: (url: string) => call<null>("System", "OpenURL", url),
    },
  };
}
