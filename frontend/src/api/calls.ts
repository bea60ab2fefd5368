// The bind list: what the page may ask of Loop. One function per bound method.
import type {
  Answer, ChannelView, ConfigStatus, CredentialKind, DoctorReport, FolderList, PromptOptions, Question, Run, SessionInfo, SessionMessage,
  SessionStart, Snapshot, ThreadRequest, TimelinePage, WorktreeRequest,
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
      createThread: (req: ThreadRequest) => call<ChannelView>("Channels", "CreateThread", req),
      createWorktree: (req: WorktreeRequest) => call<ChannelView>("Channels", "CreateWorktree", req),
      removeTree: (id: string, removeFiles: boolean) => call<null>("Channels", "RemoveTree", id, removeFiles),
      sessions: (id: string) => call<SessionInfo[] | null>("Channels", "Sessions", id),
      setSession: (id: string, start: SessionStart) => call<ChannelView>("Channels", "SetSession", id, start),
      messages: (id: string, sessionID: string) => call<SessionMessage[] | null>("Channels", "Messages", id, sessionID),
      forkAt: (id: string, start: SessionStart, name: string) => call<ChannelView>("Channels", "ForkAt", id, start, name),
      history: (id: string, limit: number) => call<string[] | null>("Channels", "History", id, limit),
    },
    runs: {
      prompt: (clientID: string, channelID: string, prompt: string, options: PromptOptions = {}) =>
        call<Run>("Runs", "Prompt", { client_id: clientID, channel_id: channelID, prompt, ...options }),
      cancel: (runID: string) => call<null>("Runs", "Cancel", runID),
      remove: (runID: string) => call<null>("Runs", "Remove", runID),
      retry: (runID: string) => call<Run>("Runs", "Retry", runID),
      edit: (runID: string, prompt: string) => call<Run>("Runs", "Edit", runID, prompt),
      hold: (runID: string) => call<Run>("Runs", "Hold", runID),
      release: (runID: string) => call<null>("Runs", "Release", runID),
      reorder: (channelID: string, runIDs: string[]) => call<Run[] | null>("Runs", "Reorder", channelID, runIDs),
      steer: (runID: string) => call<null>("Runs", "Steer", runID),
      questions: () => call<Question[] | null>("Runs", "Questions"),
      answer: (id: string, answer: Answer) => call<Question>("Runs", "Answer", id, answer),
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
