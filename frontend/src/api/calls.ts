// The bind list: what the page may ask of Loop. One function per bound method.
import type {
  Answer, ChannelView, ConfigStatus, CredentialKind, DoctorReport, FolderList, PromptOptions, Question, Run, SessionInfo, SessionMessage, SessionStart, Snapshot, ThreadRequest, TimelinePage, WorktreeRequest,
} from "./types";
import type { CredentialStatus, RawSettings, SettingsRevision, SettingsRevisionText, SettingsView } from "./types-settings";
import type { FilePart, Recording, TerminalCreate, TerminalInfo, TerminalTarget } from "./types-terminals";
import type { Leaving } from "./types-leaving";
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
    settings: {
      get: (channel: string) => call<SettingsView>("Settings", "Get", channel),
      set: (scope: string, channel: string, field: string, value: unknown) => call<SettingsView>("Settings", "Set", scope, channel, field, value),
      unset: (scope: string, channel: string, field: string) => call<SettingsView>("Settings", "Unset", scope, channel, field),
      raw: (scope: string, channel: string) => call<RawSettings>("Settings", "Raw", scope, channel),
      setRaw: (scope: string, channel: string, text: string, sha256: string) => call<SettingsView>("Settings", "SetRaw", scope, channel, text, sha256),
      approve: (channel: string, path: string, sha256: string) => call<SettingsView>("Settings", "Approve", channel, path, sha256),
      revoke: (channel: string, path: string) => call<SettingsView>("Settings", "Revoke", channel, path),
      history: (scope: string, channel: string) => call<SettingsRevision[] | null>("Settings", "History", scope, channel),
      revision: (id: string) => call<SettingsRevisionText>("Settings", "Revision", id),
      restore: (id: string) => call<SettingsView>("Settings", "Restore", id),
    },
    terminals: {
      list: (channel: string) => call<TerminalInfo[] | null>("Terminals", "List", channel),
      create: (req: TerminalCreate & { rows?: number; cols?: number }) => call<TerminalInfo>("Terminals", "Create", req),
      close: (id: string) => call<null>("Terminals", "Close", id),
      rename: (id: string, title: string) => call<TerminalInfo>("Terminals", "Rename", id, title),
      record: (id: string, on: boolean) => call<TerminalInfo>("Terminals", "Record", id, on),
      recordings: () => call<Recording[] | null>("Terminals", "Recordings"),
      deleteRecording: (name: string) => call<null>("Terminals", "DeleteRecording", name),
      containerPath: (channel: string, path: string) => call<string>("Terminals", "ContainerPath", channel, path),
      readFile: (channel: string, target: TerminalTarget, dir: string, name: string, line: number) => call<FilePart>("Terminals", "ReadFile", channel, target, dir, name, line),
      pasteFile: (channel: string, name: string, base64: string) => call<string>("Terminals", "PasteFile", channel, name, base64),
      pasteHostFile: (channel: string, path: string) => call<string>("Terminals", "PasteHostFile", channel, path),
    },
    system: {
      snapshot: () => call<Snapshot>("System", "Snapshot"),
      doctor: () => call<DoctorReport>("System", "Doctor"),
      buildImage: () => call<null>("System", "BuildImage"),
      cancelImageBuild: () => call<null>("System", "CancelImageBuild"),
      setCredential: (kind: CredentialKind, value: string) => call<ConfigStatus>("System", "SetCredential", kind, value),
      clearCredential: (kind: CredentialKind) => call<ConfigStatus>("System", "ClearCredential", kind),
      adoptCredentials: () => call<ConfigStatus>("System", "AdoptCredentials"),
      credentials: () => call<CredentialStatus[] | null>("System", "Credentials"),
      setTheme: (theme: string) => call<null>("System", "SetTheme", theme),
      memory: () => call<Record<string, string> | null>("System", "Memory"),
      keep: (name: string, value: string) => call<null>("System", "Keep", name, value),
      openURL: (url: string) => call<null>("System", "OpenURL", url),
      leaving: () => call<Leaving>("System", "Leaving"),
      quit: () => call<null>("System", "Quit"),
      hide: () => call<null>("System", "Hide"),
      answered: () => call<null>("System", "Answered"),
    },
  };
}
