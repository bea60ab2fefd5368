// Code generated from backend/bind and backend/core by “make gen”. DO NOT EDIT.

export type Activity = {
  activity: string;
  description?: string;
  model?: string;
  parent_tool_use_id?: string;
  agent?: AgentWork;
  retry?: RetryWait;
};

export type AgentChoice = {
  id: string;
  name: string; // as it is shown; empty is the id
};

export type AgentWork = {
  kind?: string; // Explore, general-purpose, …
  state?: string; // running, completed, failed, stopped; empty: as before
  calls?: number;
  tokens?: number;
  duration_ms?: number;
};

export type Answer = {
  action: AnswerAction;
  choices?: (string[] | null)[];
  texts?: string[];
  text?: string;
  author_id?: string;
};

export type AnswerAction = "answer" | "approve" | "revise" | "cancel";

export type Approval = {
  approval_id: string;
  channel_id: ChannelID;
  run_id?: RunID; // empty for a terminal
  spawn_id: SpawnID;
  tool_use_id?: string; // the tool call that caused it, where it is known
  kind: ApprovalKind;
  state: ApprovalState;
  operation?: string; // file: write, create, delete, …; exec: run; connect: connect; navigate: navigate
  target: string;
  asked_as?: string;
  site?: string; // navigate: the part of the host that the answer is about
  from?: string;
  call?: string; // of the kernel, e.g. renameat2
  calls: number; // how many held calls this one question stands for
  append?: boolean;
  in_place?: boolean;
  title: string; // “Write to a start-up file”
  why: string; // the rule's message, or what the default is
  consequence?: string; // what happens if it is allowed, in a clause
  rule?: string;
  category?: string; // package policy's
  details?: ApprovalDetail[];
  processes: ApprovalProcess[] | null; // the one that asks first
  diff?: string;
  diff_note?: string;
  digest: string; // what an answer is bound to
  groups?: ApprovalGroup[];
  other_processes?: number;
  offers?: ApprovalOffer[];
  created_at: string;
  deadline?: string; // denied once at this time; zero: it waits for the person
  resolved_at?: string;
  scope?: ApprovalScope; // of the answer
  by?: string; // window, dialog, command line, a rule, time, …
  reason?: string;
};

export type ApprovalAnswer = {
  allow: boolean;
  scope: ApprovalScope;
  digest: string;
  author_id?: string;
  by?: string;
  groups?: GroupAnswer[];
};

export type ApprovalDetail = {
  label: string;
  text: string;
};

export type ApprovalGroup = {
  id: string;
  kind: ApprovalKind;
  operation: string;
  target: string; // what all of them have in common
  wide?: string; // pattern after it that matches more than them: "/**", " *"
  calls: number;
  category?: string;
  why?: string; // as of an approval
  first: string;
  last: string;
  once_only?: boolean;
  items: ApprovalGroupItem[] | null; // the oldest first, bounded
};

export type ApprovalGroupItem = {
  operation: string;
  target: string;
  at: string;
  calls: number;
};

export type ApprovalKind = "file" | "execve" | "connect" | "navigate" | "flood";

export type ApprovalOffer = {
  scope: ApprovalScope;
  pattern: string;
  rule: string; // as JSON, as it would stand in the settings file
  matches?: RuleMatch[];
  of?: number; // how many recent decisions Matches were looked for in
};

export type ApprovalProcess = {
  pid: number;
  exe?: string;
  command: string;
  short?: string;
};

export type ApprovalScope = "once" | "run" | "project" | "always";

export type ApprovalState = "waiting" | "allowed" | "denied" | "expired" | "withdrawn" | "broken" | "gathered";

export type AskOption = {
  label: string;
  description?: string;
  preview?: string;
};

export type AskQuestion = {
  question: string;
  header?: string;
  options: AskOption[] | null;
  multiSelect?: boolean;
};

export type Attachment = {
  id: string;
  name: string; // as the person called it; for a screen
  type: string; // image/png, image/jpeg, image/gif, image/webp
  bytes: number; // size
  width: number; // in pixels
  height: number;
};

export type Attempt = {
  number: number; // from 1
  kind?: AttemptKind;
  reason?: string; // what went wrong before, in a sentence
  session_id?: SessionID; // to resume, from the second try on; empty is none
  transient?: number; // waits so far
  of?: number; // tries at most, with waits between them
  not_before?: string;
  delay_ms?: number;
  failure?: Failure;
  compacted?: boolean;
  latest?: boolean;
  usage?: Usage;
};

export type AttemptKind = "compact" | "compacted" | "latest" | "transient";

export type BackDiff = {
  patch: string; // unified hunks from now to then
  own: number[] | null; // lines of now that are the person's, from 1
  why?: string; // why there is no patch
};

export type BackFile = {
  path: string; // below the folder, with slashes
  back: FileBack;
  added: number; // lines; -1 with Removed: they were not counted
  removed: number;
  bytes: number; // as it would be
  own_ms?: number; // when the person changed it last; 0: only agents did
  merges?: boolean;
  why?: string;
};

export type BackRequest = {
  what: RewindWhat;
  keep: string[] | null;
  mark: string;
  stop: boolean;
};

export type Background = {
  tasks: BackgroundTask[] | null;
  waiting: boolean;
};

export type BackgroundTask = {
  task_id: string;
  kind: string; // command, agent, other
  what: string; // the command, or what the agent calls the task
};

export type Branch = {
  name: string;
  current?: boolean; // it is checked out in the channel's folder
  where?: string;
  in?: string;
  at_ms: number; // of its last commit
  subject: string;
};

export type BranchList = {
  branches: Branch[] | null; // newest first; never null
  more?: boolean;
  changes: number; // files of the channel's folder with changes that are not committed
  changed: string[] | null; // the first of these; never null
};

export type BrowserDriver = "nobody" | "agent" | "person";

export type BrowserHeld = {
  held: boolean;
};

export type BrowserPort = {
  port: number;
  url: string; // where a browser of the channel finds it
  process: string; // what the program calls itself; empty where that is not known
};

export type BrowserTarget = {
  role?: string;
  name?: string;
  selector?: string; // CSS, as short as it still names this one
  ref?: number;
  text?: BrowserText;
  x: number;
  y: number;
  width: number;
  height: number;
};

export type BrowserText = {
  size: number; // in CSS pixels
  color: string; // #rrggbb
  contrast?: number; // with what is behind it, as WCAG has it; 0 where a picture is
};

export type BuildOutput = {
  ref: string;
  name: string; // of the image, in sentences
  began_at: number; // ms since the epoch; 0: nothing was built
  text: string; // bounded
};

export type ChainBreak = {
  day: string;
  entry: number;
  text: string; // “Entry 1,188 does not follow 1,187.”
};

export type Channel = {
  channel_id: ChannelID;
  parent_id?: ChannelID;
  kind: ChannelKind;
  name: string;
  dir: string; // absolute host path, cleaned
  session_id?: SessionID;
  next_session?: SessionStart;
  choices?: ChannelChoices;
  branch?: string;
  parent_dir?: string;
  context?: ContextFill;
  origin?: Origin;
  created_at: string;
};

export type ChannelChoices = {
  agent_id?: string;
  model?: string;
  effort?: string;
  extra_dirs?: string[]; // further folders to work in, absolute
  claude_setup?: string;
  notify?: string;
};

export type ChannelID = string;

export type ChannelKind = "project" | "thread" | "worktree" | "demo";

export type ChannelState = "idle" | "queued" | "working" | "needs_you" | "done" | "failed";

export type ChannelView = Channel & {
  state: ChannelState;
  running_since?: string;
  queued: number;
  questions?: number; // open ones; the channel is parked while there are any
  last_event_id: number;
  last_error?: Failure;
  undecided?: boolean; // its run waits for the person's word on the image that the project brings
  browser_held?: boolean; // the person drives its browser, and an agent waits for that
  talking?: boolean; // the agent is at a turn in a terminal
  on_host?: boolean; // what a person prompts works on this computer itself, without a container
};

export type ClaudeSetup = {
  folder: string; // where it is
  files: SetupFile[] | null; // what comes with the grant, by path
  settings: string[] | null;
  asks: SetupAsk[] | null; // what runs programs, or sets variables: each needs a yes
  left: SkippedMount[] | null; // what never comes, and why
};

export type ClaudeSetupView = {
  setup: ClaudeSetup;
  grant: string; // read or none, of the global settings; empty when nobody was asked
};

export type Code = string;

export type CommandSource = "claude" | "project" | "person";

export type ConfigStatus = {
  path: string;
  problems: SettingsProblem[] | null; // of the global file
  has_credentials: boolean;
  credential_kind?: string;
  theme: string; // of Loop's own, or the name of Look; an unknown one is “system”
  look?: Theme; // the imported theme in force
  themes?: string[]; // names of the imported ones
  do_not_disturb: boolean; // the desktop shows no notifications
  notify: string; // what it shows of channels without a choice of their own
  text: TextSizes;
  terminal: TerminalLook;
  keys?: Record<string, string[] | null>; // of actions that do not have the page's own
};

export type Container = {
  container_id: ContainerID;
  container_name: string;
  channel_id: ChannelID;
  run_id?: RunID;
  type: ContainerType;
  status: ContainerStatus;
  image: string;
  hash?: string;
  created_at: string;
  remove_at?: string;
  scope?: string;
  last_used_at?: string;
  why?: string;
};

export type ContainerDrift = {
  unknown?: string;
  changed: boolean;
  replaced: boolean;
  parts: string[] | null; // what differs, in words; never null
  origins?: FieldOrigin[];
};

export type ContainerFile = {
  name: string;
  kind: FileKind;
  bytes: number;
  modified_ms: number;
  link?: string; // what a link says, as it is written
};

export type ContainerID = string;

export type ContainerLog = {
  text: string;
  next?: string;
  running: boolean;
};

export type ContainerPolicy = {
  idle_sec: number;
  max_age_sec: number;
};

export type ContainerPort = BrowserPort & {
  kind: string;
  title: string;
};

export type ContainerSample = {
  at_ms: number;
  cpus: number; // processors in use, on average since the sample before
  memory_bytes: number;
};

export type ContainerState = {
  running: boolean;
  paused: boolean;
  exit_code: number;
  oom_killed: boolean;
  error?: string; // the engine's own words
  image_id: string;
  limits: Limits; // a zero field is no limit
  mounts: Mount[] | null; // as they were asked for, without their kinds; never null
};

export type ContainerStatus = "reserved" | "running" | "stopped" | "pending-removal";

export type ContainerType = "agent" | "shell" | "chrome";

export type ContainerView = Container & {
  sessionKey: string; // the scope; empty where nobody joins any more
  createdAtMs: number;
  lastUsedAtMs: number; // 0 where it is not known
  configHash: string;
  warm: boolean;
  holders: Holder[] | null; // never null
  policy: ContainerPolicy;
  ends_at?: string;
  ends_why: string;
};

export type ContainerWatch = {
  containers: WatchedContainer[] | null; // oldest first; never null
  cpus: number; // of the engine's machine; 0 is not known
  memory_bytes: number; // the same
  warm_most: number; // how many go on that nobody holds; 0: memory bounds them
  on_app_exit: string; // what becomes of those that nobody holds, as the setting says
  failure?: Failure;
};

export type ContextFill = {
  used_tokens: number;
  window_tokens?: number;
};

export type CopyComparison = WorkspaceSeed & {
  differences: CopyDifference[] | null; // by path
  left: SkippedMount[] | null;
};

export type CopyDifference = {
  path: string; // below both folders, with slashes
  state: string;
  copy_bytes: number;
  original_bytes: number;
  copy_ms?: number; // when it changed; 0 is not known, or no file
  original_ms?: number;
  mark: string;
};

export type CopyTexts = {
  original: string;
  copy: string;
};

export type Cost = {
  cost_usd?: number;
  cost_estimated?: boolean;
};

export type CredentialKind = "anthropic_api_key" | "claude_code_oauth_token";

export type CredentialStatus = {
  kind: CredentialKind;
  set: boolean;
  where?: string; // config, keyring, file
  in_use: boolean;
  trial?: KeyTrial;
  failure?: Failure;
  note?: string;
};

export type DayCost = Cost & {
  last_event_id: number;
};

export type DoctorCheck = {
  id: string;
  title: string;
  state: DoctorState;
  summary: string;
  remedy?: string;
  detail?: string;
  fix?: string; // what Doctor.Fix would do about it; empty: nothing
  duration_ms: number;
};

export type DoctorReport = {
  checks: DoctorCheck[] | null;
};

export type DoctorState = "ok" | "warn" | "fail" | "skip";

export type EditorOpened = {
  name: string; // of the program
  cmd: string[] | null; // that wants a terminal of this computer; empty: it was started. Never null
  dir?: string;
};

export type EngineStatus = {
  ok: boolean;
  host: string; // e.g. unix:///var/run/docker.sock
  source: string; // DOCKER_HOST, context “x”, default socket, Podman socket …
  name: string; // Docker, Podman
  version: string;
  api_version: string;
  os: string;
  arch: string;
  rootless: boolean;
  failure?: Failure;
};

export type EventType = 
  | "message.created"
  | "message.streaming"
  | "agent.thinking"
  | "tool.use"
  | "tool.result"
  | "agent.activity"
  | "agent.status"
  | "run.notice"
  | "run.attempt"
  | "run.background"
  | "agent.ask_user"
  | "agent.exit_plan"
  | "agent.ask_resolved"
  | "agent.plan_resolved"
  | "agent.todos"
  | "message.updated"
  | "messages.processed"
  | "agent_instance.registered"
  | "agent_instance.unregistered"
  | "message.deleted"
  | "agent.raw"
  | "queue.changed"
  | "channel.created"
  | "channel.updated"
  | "channel.deleted"
  | "container.registered"
  | "container.status_changed"
  | "container.removed"
  | "image.build_status"
  | "engine.status"
  | "config.changed"
  | "signin.changed"
  | "trust.requested"
  | "terminal.created"
  | "terminal.changed"
  | "terminal.removed"
  | "terminal.talk"
  | "gate.asked"
  | "gate.changed"
  | "gate.resolved"
  | "gate.decided"
  | "gate.status"
  | "gate.rules"
  | "browser.frame"
  | "browser.held"
  | "rewind.went"
  | "rewind.undone"
  | "reset";

export type Explanation = {
  origins: FieldOrigin[] | null;
  skipped?: SkippedMount[];
  notices?: string[];
  add_dirs?: string[]; // --add-dir for the CLI
};

export type Failure = {
  code: Code;
  cause: string;
  remedy?: string;
  detail?: string;
};

export type FieldOrigin = {
  field: string;
  value: string;
  layer: string;
  path?: string;
  line?: number;
  overrode?: OverriddenSetting;
};

export type FileBack = "changed" | "removed" | "comes" | "stays";

export type FileChange = {
  path: string;
  kind: string; // create, edit
  added: number;
  removed: number;
  patch?: string; // unified hunks, bounded
  alarm?: string; // ReviewAlarm.Word, where the file is in the project and reaches further
};

export type FileContent = FileStat & {
  data: string;
  whole: boolean;
  mark?: string;
};

export type FileKind = "file" | "folder" | "link" | "other";

export type FileListing = FilePlace & {
  files: ContainerFile[] | null; // by name, never null
  left?: string;
};

export type FileMatch = {
  path: string; // below the agents' folder, of folders with a slash at the end
  marks: number[] | null; // the letters that matched, in code points of Path; never null
  recent?: boolean;
  files?: number; // of a folder: how many files are below it
};

export type FileMatches = {
  files: FileMatch[] | null; // best first, never null
  total: number; // how many match
  known: number; // how many were searched
  ignored: number; // files and folders that git ignores
  partial: boolean; // there are more than Loop looks through
};

export type FilePart = {
  path: string; // on this computer, or in the container, which alone has it then
  first: number; // number of the first of Lines, from 1
  lines: string[] | null;
  more: boolean; // the file goes on behind them
};

export type FilePlace = {
  path: string; // in the container, without links
  host_path?: string;
  read_only?: boolean; // the container's programs cannot change it
};

export type FileStat = FilePlace & ContainerFile & {
};

export type FindQuery = {
  words: string;
  channel_id?: ChannelID; // empty: everywhere
  before_id?: number; // only events older than this one; 0: from the newest on
  limit?: number; // 0: 50, and at most 500
};

export type Folder = {
  name: string;
  path: string;
};

export type FolderList = {
  path: string;
  parent: string;
  entries: Folder[] | null;
};

export type FoundEvent = {
  event_id: number;
  channel_id: ChannelID;
  run_id?: RunID;
  type: EventType;
  timestamp: number; // ms since the epoch
  tool_use_id?: string;
  tool_name?: string;
  is_bot?: boolean; // of a message: the agent's
  excerpt: string; // one line around the first word, at most some 200 characters
};

export type FoundEvents = {
  found: FoundEvent[] | null;
  more: boolean; // there are older ones
};

export type GateCall = {
  operation?: string;
  path?: string; // absolute, or below ~/ or <project>/
  connect?: string; // a socket's path, or @ and its name
  exec?: string[]; // the arguments, with the program first
  line?: string; // in place of exec: words with spaces between them
  site?: string; // a host, or an address of which its host counts
};

export type GateCandidate = {
  class: GateRuleClass;
  rule: string; // JSON
  scope?: ApprovalScope; // always (the default) or project
  index?: number; // where in its list it would stand
  replaces?: boolean;
};

export type GateChain = {
  at: string; // when it was looked at
  days: number;
  entries: number;
  breaks: ChainBreak[] | null;
};

export type GateCount = {
  rule: string;
  operation: string;
  calls: number;
};

export type GateDecision = {
  id: string; // names its record
  at: string;
  state: ApprovalState; // allowed or denied
  by: string; // “a rule”, “an answer for this run”, …
  kind: ApprovalKind;
  operation: string;
  target: string;
  rule?: string;
  category?: string;
  message?: string;
  process?: string; // command line, shortened
  calls: number;
};

export type GateDecisions = {
  channel_id: ChannelID;
  run_id: RunID;
  spawn_id: SpawnID;
  tool_use_id?: string;
  allowed?: number; // calls that a rule allowed
  unruled?: number; // calls that no rule covers
  rules?: GateCount[]; // of Allowed, the most first
  decisions?: GateDecision[];
  more?: number; // denied calls that are not listed
  missed?: number; // reports that did not come through
};

export type GateLogEntry = {
  record: GateRecord; // the newest; its calls are those of all
  day: string; // of its file, 2006-01-02 in UTC
  entry: number; // its number in that file, from 1
  alike: number; // how many entries it stands for
  first: string; // when the oldest of them was decided
  asked?: boolean;
};

export type GateLogGroup = {
  run_id?: RunID;
  tool_use_id?: string;
  first: string;
  last: string;
  entries: number;
  calls: number;
  asked: number;
  denied: number;
};

export type GateLogPage = {
  entries: GateLogEntry[] | null;
  next?: string; // empty: there are no older ones
};

export type GateLogPageQuery = {
  channel_id: ChannelID; // required
  run_id?: RunID;
  no_run?: boolean; // only entries of programs in terminals
  tool_use_id?: string;
  no_tool?: boolean; // only entries that belong to no tool call
  decision?: string; // as in records; asked: a person was; refused: all but allowed
  kind?: string; // file, execve, connect, counted, log
  text?: string; // in the object, the rule, the program or who decided; the case of letters does not count
  after?: string; // next of the page before
  limit?: number; // 0 is 200, and no more than 1000 are given
};

export type GateLogSummary = {
  entries: number;
  calls: number;
  asked: number;
  denied: number; // expired, withdrawn and broken ones among them
  files: number;
  programs: number;
  sockets: number;
  sites: number;
  counted: number; // entries that count calls and name none
  groups: GateLogGroup[] | null; // newest first
  older?: boolean; // there are groups before these; only the newest 2000 are listed
  answer_ms: number; // that answers took on average
};

export type GateRecord = {
  id?: string;
  at: string;
  channel_id: ChannelID;
  run_id?: RunID;
  spawn_id: SpawnID;
  tool_use_id?: string;
  kind: string;
  operation: string;
  target: string;
  rule?: string;
  category?: string;
  decision: string;
  by: string;
  scope?: string;
  calls: number;
  latency_ms: number;
  pid?: number;
  exe?: string; // the program's file, as the kernel names it
  command?: string; // what the process says of itself
  policy: string; // version of the spawn's policy
  digest?: string;
  hash: string;
  prev: string;
};

export type GateRule = {
  number: number; // from 1
  id: string; // as decisions name it; made of its content where it has none. Empty: the default
  origin: GateRuleOrigin;
  class: GateRuleClass;
  index: number; // in its list, from 0; with origin and class it names the rule for a change
  path?: string; // the file that has it
  line?: number;
  decision: string; // allow, deny or approve
  calls: string[] | null; // read, write, …; run; connect; navigate
  patterns: string[] | null; // as a person reads them: ~ is any home, <project> a folder of the project
  args?: string[];
  text: string; // what it says, in plain words
  message?: string;
  advice?: string;
  category?: string;
  scope?: ApprovalScope; // project or always; empty: Loop's own
  rule?: string; // as JSON, as it stands in its file; empty where it cannot be changed
  editable?: boolean;
  off?: boolean; // the person's, and turned off: it counts for nothing
  hits: number; // calls of the last 30 days for which it was the rule that decided or asked
  last_used?: string;
  stale?: boolean; // the person's or project's, and without a hit in 90 days
  shadowed_by?: number; // number of an earlier rule that matches all that this one does
  recent: number; // recent decisions on calls that it matches by itself
};

export type GateRuleAction = "add" | "change" | "move" | "remove" | "off" | "on";

export type GateRuleClass = "file_rules" | "command_rules" | "path_rules" | "site_rules" | "default";

export type GateRuleEdit = {
  channel_id?: ChannelID;
  action: GateRuleAction;
  scope: ApprovalScope;
  class: GateRuleClass;
  index: number; // of the rule; with add, where it comes to stand
  to?: number; // move: its new index
  was?: string; // the rule as it was listed; another one is a conflict
  rule?: string; // add, change: JSON
  by?: string;
};

export type GateRuleFile = {
  origin: GateRuleOrigin;
  path: string;
  approved?: boolean; // a project's file that the person trusts as it is
  waiting?: string[]; // its settings that are not in force until it is approved
  problems?: SettingsProblem[]; // the first that is no warning says why the file is not used
  last_good?: boolean; // with a problem: its last good version holds
  stopped?: string; // why nothing starts in the channel until it is corrected
  sha256?: string; // of a file that waits, for its approval
  channel_id?: ChannelID; // of remembered rules: the channel at the top
};

export type GateRuleList = {
  channel_id: ChannelID; // empty: the person's rules alone
  policy: string; // agent, person, system or plan
  mode: string; // record, shadow or enforce
  mode_from: string; // settings, or the folder that has a mode of its own
  enabled: boolean;
  rules: GateRule[] | null;
  files: GateRuleFile[] | null;
  version: string; // changes with any rule
  recent: number; // how many recent decisions the rules were tried on
  since?: string; // hits are counted from here on
  uncounted: string; // what hits leave out, a sentence
  guessed?: boolean;
  undo?: GateRuleUndo; // the last change that can be taken back
};

export type GateRuleMatches = {
  text: string; // the rule in plain words
  matches: RuleMatch[] | null;
  total: number; // all that it matches, of which Matches are the newest
  of: number; // how many decisions were looked at
  denied: number; // of Total: those that were denied
  shadowed_by?: string;
  shadows?: string[]; // ids of rules that it would leave nothing
  refused?: Failure; // why it cannot be stored
};

export type GateRuleOrigin = "first" | "project" | "remembered" | "yours" | "built_in" | "default";

export type GateRuleUndo = {
  id: string;
  at: string;
  text: string; // “Removed: allow write of ~/x”
  scope: ApprovalScope;
};

export type GateStatus = {
  state: string; // on, off, unknown, broken; record or shadow: it only writes down
  text: string; // for the status bar
  probed?: string;
  why?: string; // what is missing, and the remedy
  modes?: Record<string, string>;
};

export type GateSuggestion = {
  class: GateRuleClass;
  rule: string; // JSON
  text: string;
  from: string; // answers, or shadow: seen while only watching
  asked: number;
  runs: number;
  channels: number;
  denied: number; // recent decisions that it matches and that were denied
};

export type GateTry = {
  what: string; // “write /home/ana/.bashrc”
  decision: string; // allow, deny or approve, as the rules say
  now: string; // the same in the channel's mode
  mode: string;
  number: number; // of the row that decides
  rule?: string;
  reason: string; // a sentence
  advice?: string;
  category?: string;
  steps: GateTryStep[] | null; // rows of the call's class, in order
  note?: string; // what the rules alone do not say
  case: string; // the call as a case of loop gate test, JSON
};

export type GateTryRequest = {
  channel_id?: ChannelID;
  policy?: string; // empty: agent
  call: GateCall;
  candidate?: GateCandidate;
};

export type GateTryStep = {
  from: number;
  to: number;
  outcome: string; // none, decides, weaker (it matches, and another is stricter), late (it is never reached)
  text: string;
};

export type GateWhy = {
  entry: GateLogEntry;
  of: number; // entries of that day
  holds: boolean; // it is as it was written, and follows the one before it
  broken?: string; // why not
  rule?: GateRule; // as it is now; nil: there is no such rule any more, or the default decided
};

export type GroupAnswer = {
  id: string;
  verdict: GroupVerdict;
};

export type GroupVerdict = "deny" | "once" | "run" | "ask";

export type Holder = {
  kind: HolderKind;
  id: string;
};

export type HolderKind = "run" | "terminal" | "git" | "set-up" | "person" | "browser" | "prompt";

export type ImageState = "unknown" | "missing" | "stale" | "ready" | "building";

export type ImageStatus = {
  state: ImageState;
  ref: string;
  id?: string;
  step?: string; // what is being done now, in words
  progress?: number; // 0..1, an estimate
  note?: string; // e.g. built without the git secret, and why
  lines?: string[]; // the last lines of output, bounded
  failure?: Failure;
  theirs?: boolean; // the person's own, which Loop never builds
};

export type KeptFrame = {
  frame_id: number;
  run_id: RunID;
  tool_use_id?: string; // act: the call that asked for it, where that is known
  kind: KeptKind;
  time: number; // ms since the epoch
  driver: BrowserDriver;
  action?: string; // act: the tool
  deed?: string; // act: what the agent did, in words
  failed?: boolean; // act: it did not work
  target?: BrowserTarget;
  url?: string;
  title?: string;
  picture?: string; // SHA-256 of the JPEG; empty: there is none
  why?: string; // there is no picture: a sentence
  width?: number; // of the picture, in its own pixels
  height?: number;
  view_width?: number; // of the page in it, in CSS pixels
  view_height?: number;
  skipped?: number;
};

export type KeptKind = "act" | "page" | "take" | "give";

export type KeyState = "accepted" | "refused" | "unsure" | "unreached" | "stopped";

export type KeyTrial = {
  state: KeyState;
  host: string;
  cause: string;
  remedy?: string;
  detail?: string;
  at: number; // ms since the epoch
  took_ms: number;
};

export type Leaving = {
  stays: boolean;
  ends: LeavingItem[] | null; // with Loop
  goes_on: LeavingItem[] | null; // without Loop, in its container; the next start takes it up
  waits: LeavingItem[] | null; // for the next start
};

export type LeavingItem = {
  kind: LeavingKind;
  channel_id?: ChannelID;
  channel?: string; // its name
  name?: string; // of a run or prompt what it says, of a terminal what runs in it
  title?: string; // of a terminal
  host?: boolean; // on this computer, not in a container
  at?: string; // a prompt that is not to start earlier
};

export type LeavingKind = "run" | "prompt" | "program" | "terminal" | "recording" | "image";

export type LeftCopy = {
  channel_id: ChannelID;
  copy: string;
  bytes: number;
  in_use: boolean;
};

export type Limits = {
  memory_bytes: number;
  cpus: number;
  pids: number;
  swap_bytes?: number;
};

export type LiveBlock = {
  kind: string; // text, thinking
  text: string;
};

export type LiveMessage = {
  run_id: RunID;
  msg_id: string;
  blocks: LiveBlock[] | null;
};

export type LoopEvent = { [T in EventType]: {
  seq: number;
  first_seq?: number;
  id?: number;
  type: T;
  channel_id?: ChannelID;
  run_id?: RunID;
  timestamp: number; // ms since the epoch
  data: EventData[T];
} }[EventType];

export type MessageCreated = {
  msg_id: string;
  author_id?: string;
  author_name?: string;
  content: string;
  attachments?: Attachment[];
  model?: string;
  effort?: string;
  is_bot: boolean;
  uuid?: string;
  cut?: boolean;
  is_processed: boolean;
  priority?: number;
  trigger_msg_id?: string;
  not_before?: number; // ms since the epoch
};

export type MessageStreaming = {
  msg_id: string;
  block: number;
  kind: string; // text, thinking, tool: the name of one whose input is being written
  offset: number;
  delta: string;
};

export type MessageUpdated = {
  msg_id: string;
  content?: string;
};

export type Mode = "window" | "headless";

export type ModelUsage = Tokens & {
  model: string;
  cost_usd?: number;
  context_window?: number;
};

export type Mount = {
  kind: MountKind;
  source: string; // host path, or the volume's name when Volume
  target: string; // absolute path in the container
  read_only?: boolean;
  volume?: boolean;
  no_copy?: boolean; // volume: do not fill from the image
};

export type MountKind = "workspace" | "state" | "surface" | "volume" | "extra" | "credential" | "system";

export type Notice = {
  level: string; // info, warning, error
  text: string;
  driver?: BrowserDriver; // who drives the channel's browser from then on; empty: it is about something else
};

export type OpenMode = "resume" | "fork" | "fresh";

export type Origin = {
  channel_id?: ChannelID;
  event_id?: number;
  words?: string;
  open?: boolean;
};

export type Outcome = Usage & {
  text?: string;
  session_id?: SessionID;
  model?: string;
  chosen_model?: string;
  num_turns?: number;
  stop_reason?: string;
  duration_ms?: number;
  exit_code?: number;
  failure?: Failure;
};

export type OverriddenSetting = {
  setting: string;
  value: string; // in the setting's own unit
  layer: string;
  path?: string;
  line?: number;
};

export type ProjectToolchain = SettingsPending & {
  kind: string; // ToolchainImage, ToolchainSetup or ToolchainDevcontainer
  state: string; // ToolchainUndecided, ToolchainApproved or ToolchainDeclined
  text: string; // all of it
  notes: string[] | null; // what of it Loop leaves out, in sentences
};

export type PromptRequest = {
  client_id: string;
  channel_id: string;
  prompt: string;
  demo?: boolean;
  script?: string;
  interrupt?: boolean;
  delay_seconds?: number;
  plan?: boolean; // plan first, and ask for approval
  unattended?: boolean; // what the gate would ask is denied
  session?: SessionStart;
  model?: string; // for this prompt alone
  effort?: string; // likewise: low, medium, high, xhigh or max
  attachments?: Attachment[];
};

export type PrunedContainer = {
  container_id: ContainerID;
  container_name: string;
  channel_id: ChannelID;
  why: string; // a clause whose subject is the container
};

export type Question = {
  question_id: string;
  channel_id: ChannelID;
  run_id: RunID;
  kind: QuestionKind;
  state: QuestionState;
  tool_use_id: string;
  questions?: AskQuestion[];
  plan?: string;
  planFilePath?: string;
  read_only?: boolean; // its run planned first and could change nothing
  demo?: boolean;
  created_at: string;
  resolved_at?: string;
  answer?: Answer;
  next_run_id?: RunID; // brings the agent the answer; only told to who gives it
};

export type QuestionKind = "ask_user" | "exit_plan";

export type QuestionState = "open" | "answered" | "cancelled";

export type RawSettings = {
  path: string;
  text: string;
  sha256: string; // of the file; empty when there is none
};

export type ReadTheme = {
  name: string;
  format: string; // in words
  look: ThemeLook;
  changes: ThemeChange[] | null; // colours that had too little contrast
  kept: string;
};

export type Recording = {
  name: string; // of its file, which is what it is asked for by
  session_id: TerminalID;
  channel_id: ChannelID;
  title: string;
  started_at: string;
  duration_ms: number; // of what is written so far
  bytes: number; // of the file
  cols: number; // at the beginning
  rows: number;
};

export type RetryWait = {
  attempt: number;
  of?: number;
  delay_ms: number;
  why: string; // a sentence
};

export type ReviewAlarm = {
  kind: string; // hook, git, ci, ide, agent, install or shell
  word: string;
  why: string; // a clause whose subject is the file
};

export type ReviewCommit = {
  id: string; // shortened
};

export type ReviewDiff = {
  path: string;
  hunks: ReviewHunk[] | null; // in the file's order
  whole?: string;
  filter?: string; // its name, for WholeFilter
  bytes: number; // of the file now; -1 is no file
  before: number; // of the file in HEAD; -1 is no file
  mark: string; // of the file now, to stage it as one
  since?: string; // as ReviewFile's
};

export type ReviewFile = {
  path: string; // below the folder, with slashes
  kind: string;
  untracked?: boolean;
  added: number;
  removed: number;
  staged: number; // hunks
  unstaged: number; // hunks
  alarm?: ReviewAlarm;
  since?: string; // of ReviewRun; with it nothing of the file can be staged here
};

export type ReviewHunk = {
  id: string; // by its text, so that it is another once the text is
  staged: boolean;
  old: number;
  old_size: number;
  new: number;
  new_size: number;
  section: string; // the function that it is in, or what changed where there are no lines
  lines: string; // each with its sign; bytes that are no text are replaced
};

export type ReviewScope = {
  kind: string;
  from?: string;
  to?: string;
};

export type ReviewStatus = {
  state: string;
  branch: string; // empty where no branch is checked out
  base?: string; // the branch that a worktree's branch is compared with
  editable: boolean; // hunks can be staged and rejected
  detail?: string; // of a state without a list, or why hunks cannot be staged
  run?: RunID; // of ReviewRun
  until?: string; // of ReviewRun
  files: ReviewFile[] | null;
  more: boolean;
  odd: number;
};

export type ReviewUndo = {
  id: string;
  doubt?: Failure;
};

export type Rewind = {
  id: string;
  run_id: RunID; // whose prompt it went back to before
  prompt: string; // its beginning
  prompt_ms: number;
  what: RewindWhat;
  state: RewindState;
  files: number; // that changed
  leaves: RunID[] | null; // runs that left the conversation
  demo?: boolean;
  was_session?: SessionID;
  was_next?: SessionStart;
  was_context?: ContextFill;
  session?: SessionID;
  next?: SessionStart;
};

export type RewindPreview = {
  run_id: RunID;
  prompt: string;
  prompt_ms: number;
  mark: string; // of the files as they are; what is done by it is refused once they change
  files: BackFile[] | null; // by path
  total: number; // of files, also of those that are too many to be listed
  no_files: string; // why files cannot go back
  left: string[] | null; // what is not kept, and what cannot come back, in sentences
  head?: string; // the commit that stays checked out
  live?: RunID; // the run under way, which has to be stopped first
  kept_for: number; // days
  folder?: string;
  talk: TalkBack;
};

export type RewindState = "begun" | "done" | "broken" | "undone";

export type RewindWhat = "files" | "conversation" | "both";

export type RuleMatch = {
  at: string;
  what: string;
  decision: ApprovalState;
  own?: boolean; // this very question
};

export type Run = {
  run_id: RunID;
  channel_id: ChannelID;
  prompt: string;
  author_id?: string;
  state: RunState;
  priority: number;
  rank?: number; // queued: place among those of one priority, lowest first
  demo: boolean;
  script?: string; // demo script by name; empty is the default one
  created_at: string;
  not_before?: string; // queued: not claimed earlier
  hold_until?: string; // queued: being edited; nothing behind it is claimed either
  plan?: boolean; // plan first, and ask for approval
  unattended?: boolean; // nobody answers what the gate would ask: it is denied
  attachments?: Attachment[]; // at most MaxAttachments
  session?: SessionStart;
  model?: string; // for this run alone; empty: what counts in the channel
  effort?: string; // likewise
  attempt?: Attempt;
  trigger?: string; // person (empty), agent, answer, continue
  started_at?: string;
  ended_at?: string;
  container_id?: ContainerID;
  spawn_id?: SpawnID;
  outcome?: Outcome;
  waits_for?: Wait;
};

export type RunID = string;

export type RunState = "queued" | "starting" | "running" | "done" | "failed" | "cancelled" | "interrupted";

export type SandboxImage = {
  kind: string;
  base_image?: string; // BASE_IMAGE: the image to begin with
  target_image?: string; // TARGET_IMAGE: the name that the result gets
  packages?: string[]; // PACKAGES: of Debian
  install_pnpm?: string; // INSTALL_PNPM: 0 or 1
  install_bun?: string; // INSTALL_BUN: 0 or 1
  install_brew?: string; // INSTALL_BREW: 0 or 1
  final_user?: string; // FINAL_USER: of programs that say no other
};

export type SavedCredential = {
  stored: boolean;
  trial: KeyTrial;
  config: ConfigStatus;
};

export type SessionID = string;

export type SessionInfo = {
  session_id: SessionID;
  title: string; // the first prompt or the CLI's summary, bounded
  model?: string;
  dir?: string; // working directory it was held in
  branch?: string;
  messages: number; // prompts and answers, without tool traffic
  size_bytes: number;
  updated_at: string;
  current?: boolean; // the channel's own
  demo?: boolean; // held with the scripted model
};

export type SessionMode = "resume" | "fork" | "fresh";

export type SessionStart = {
  mode?: SessionMode;
  session_id?: SessionID; // resume, fork; empty with fork: the channel's
  at?: string;
};

export type SettingsEntry = {
  name: string;
  origin: SettingsOrigin;
};

export type SettingsField = {
  name: string;
  title: string; // what a person calls it
  words: string; // further words by which a person looks for it
  group: string;
  kind: string; // text, integer, number, boolean, list, object
  value: unknown; // in force; credentials are hidden
  default: unknown; // null when there is none
  doc: string;
  unit?: string;
  min?: string;
  max?: string;
  one_of?: string[];
  merge: string; // override, by target, by key, append, replace, union
  project: string; // free, tighten, trust, never
  secret?: boolean;
  restart?: boolean; // a change counts when Loop starts again
  origin: SettingsOrigin;
  entries?: SettingsEntry[]; // of a list or an object
  layers: SettingsLayer[] | null; // the files that name the field, lowest first
};

export type SettingsGroup = {
  id: string;
  name: string;
};

export type SettingsLayer = {
  layer: string;
  value: unknown; // as written
  line: number;
  in_force: boolean; // false: it waits for approval, or is not a project's to say
};

export type SettingsOrigin = {
  layer: string;
  path?: string;
  line?: number;
  col?: number;
};

export type SettingsPending = {
  path: string;
  sha256: string; // of the file as Diff shows it
  diff: string; // unified, against what was approved last; credentials are hidden
  fields: string[] | null;
};

export type SettingsProblem = {
  path: string;
  line: number;
  col: number;
  field: string;
  message: string;
  remedy: string;
  warning: boolean;
};

export type SettingsRevision = {
  id: string;
  path: string;
  source: string; // settings, external, initial, restore:<id>
  at: string;
  added: number; // lines, against the revision before
  removed: number;
};

export type SettingsRevisionText = {
  id: string;
  text: string;
  diff: string;
};

export type SettingsView = {
  channel_id: string;
  path: string; // of the global file
  project_path?: string; // of the project's, there or not
  worktree_path?: string; // of the worktree's, there or not
  groups: SettingsGroup[] | null;
  fields: SettingsField[] | null; // in the order of their groups
  problems: SettingsProblem[] | null;
  pending: SettingsPending[] | null;
  approved: string[] | null; // paths of project files that are trusted as they are
  toolchains: ProjectToolchain[] | null;
};

export type SetupAsk = {
  id: string; // as claude_setup_allow has it: hooks, statusLine, env:NAME, mcp:NAME, plugin:NAME
  text: string; // what it is
  detail: string; // what it runs or sets, shortened
  allowed: boolean;
};

export type SetupFile = {
  path: string;
  bytes: number;
};

export type ShellState = "prompt" | "running";

export type SignInState = {
  step: SignInStep;
  url?: string;
  asks: boolean; // a code of the page can be given
  trial?: KeyTrial; // of the token
  failure?: Failure;
};

export type SignInStep = "none" | "starting" | "browser" | "checking" | "trying" | "done" | "failed";

export type SkippedMount = {
  text: string;
  reason: string;
};

export type SlashCommand = {
  name: string; // without the slash
  hint?: string;
  description?: string;
  source: CommandSource;
};

export type SlashCommands = {
  commands: SlashCommand[] | null; // in the order of their sources, then by name; never null
  left?: string;
};

export type Snapshot = {
  seq: number;
  launch: string; // numbers of another launch mean nothing in this one
  version: string;
  mode: Mode;
  engine: EngineStatus;
  image: ImageStatus;
  channels: ChannelView[] | null;
  containers: Container[] | null;
  config: ConfigStatus;
  cost_today: DayCost;
  gate: GateStatus;
  approvals: Approval[] | null; // those that wait, oldest first
  max_runs: number; // under way at once, over all channels
};

export type SpawnID = string;

export type Status = Usage & {
  status: string;
  state: RunState;
  step?: string; // StepToolchain, slot, image, container, link, agent
  error?: string;
  failure?: Failure;
  result?: string;
  session_id?: SessionID;
  duration_ms?: number;
  num_turns?: number;
  stop_reason?: string;
  model?: string;
  exit_code?: number;
  msg_id?: string;
  trigger?: string;
  trigger_content?: string;
  on_host?: boolean;
};

export type TalkBack = {
  why?: string; // why it cannot go back
  fresh: boolean; // it begins anew
  prompts: number;
  turns: number;
  took_ms: number;
  cost_usd: number;
  leaves: RunID[] | null;
  context?: ContextFill; // how full it is
  then?: ContextFill; // how full it was
};

export type TerminalExit = {
  code: number;
  signal?: string;
  reason?: string; // a sentence where it was not the program's own doing
};

export type TerminalID = string;

export type TerminalInfo = {
  session_id: TerminalID;
  channel_id: ChannelID;
  container_id?: ContainerID;
  target: TerminalTarget;
  state: TerminalState;
  title: string; // given, else the program's, else the command; printable, at most 200 runes
  named: boolean; // the title was given by the person
  dir?: string; // where the shell is, as it says itself
  cmd?: string[]; // what was asked for
  plain?: boolean;
  shell?: ShellState;
  command?: string; // what runs in the shell, as it was typed; cleaned as titles are
  exit?: TerminalExit; // of an ended one
  cols: number;
  rows: number;
  viewers: number;
  recording?: string; // name of the recording under way
  recording_problem?: string;
  created_at: string;
};

export type TerminalLook = {
  font_family: string;
  font_size: number; // CSS pixels
  shift_enter: string; // newline, enter
  bell: string; // mark, sound, off
  copy_on_select: boolean;
  screen_reader: boolean;
  colors?: string[]; // [dark.|light.]name=#rrggbb
  minimum_contrast: number;
};

export type TerminalSpec = {
  channel_id?: ChannelID;
  container_id?: ContainerID; // agent: this container; empty finds or makes the channel's
  target?: TerminalTarget;
  cmd?: string[]; // empty: a login shell; for an agent target with the agent typed into it
  plain?: boolean; // agent, Cmd empty: the shell alone
  open_mode?: OpenMode;
  dir?: string; // where a program begins; empty, or not there: where the channel's begin
  cols?: number; // 0: 80
  rows?: number; // 0: 24
  title?: string; // given by the person; empty follows the program's
};

export type TerminalState = "running" | "away" | "ended";

export type TerminalTalk = Usage & {
  talk_id: RunID;
  channel_id: ChannelID;
  session_id: SessionID;
  terminal_id?: TerminalID; // where it was last held
  title: string; // the first prompt in one line; empty where there was none
  prompts: number;
  working?: boolean; // the agent is at a turn
  broken?: boolean; // the last turn ended with its program, or nobody knows how
  demo?: boolean;
  began_ms: number;
  turn_began_ms?: number; // while it is working
  last_ms: number; // of what was last said or done
  unpriced?: string[];
  added_usd?: number;
};

export type TerminalTarget = "agent" | "host";

export type TextSizes = {
  sidebar: number;
  chat: number;
  editor: number; // code, output, diffs and paths
  panels: number; // dialogs, and panels other than the timeline
};

export type Theme = {
  name: string;
  looks: ThemeLook[] | null; // a dark one, a light one, or both
};

export type ThemeChange = {
  what: string; // as the text calls it
  from: string;
  to: string;
  had: number; // contrast
  needs: number; // contrast
};

export type ThemeLook = {
  dark: boolean;
  colors: Record<string, string> | null; // #rrggbb by the page's tokens, without their dashes
};

export type Thinking = {
  msg_id?: string;
  text: string;
  cut?: boolean; // as in MessageCreated
};

export type ThreadRequest = {
  parent_id: ChannelID;
  name?: string;
  session?: SessionStart;
};

export type TimelinePage = {
  events: LoopEvent[] | null;
  has_more: boolean;
  live: LiveMessage | null;
  queue: Run[] | null;
};

export type Tokens = {
  input_tokens?: number;
  output_tokens?: number;
  cache_read_tokens?: number;
  cache_write_tokens?: number;
};

export type ToolResult = {
  tool_use_id: string;
  parent_tool_use_id?: string;
  output: string;
  is_error: boolean;
  truncated?: boolean;
  files?: FileChange[];
  pictures?: Attachment[];
};

export type ToolUse = {
  tool_use_id: string;
  parent_tool_use_id?: string;
  tool_name: string;
  input: unknown;
  cut?: boolean; // the agent ended before it had called the tool
};

export type TrashedCopy = {
  id: string;
  what: string; // copy, promote or pull
  place: string; // the folder that it comes back to
  files: number;
  bytes: number;
  at: string;
};

export type TrustRequested = {
  channel_id: ChannelID;
  path: string;
  sha256: string;
  fields: string[] | null;
};

export type Usage = Cost & {
  model_usage?: ModelUsage[];
  context?: ContextFill;
  session_cost_usd?: number;
};

export type Wait = {
  reason: WaitReason;
  question_id?: string;
  until?: string;
  ahead?: number; // behind: how many runs of the queue go first
};

export type WaitReason = "" | "question" | "plan" | "held" | "delayed" | "behind" | "run" | "limit";

export type WatchedContainer = ContainerView & {
  engine?: ContainerState;
  drift?: ContainerDrift;
  size_bytes: number; // of its own files on the disk; -1 is not known yet
  samples: ContainerSample[] | null; // oldest first, of ten minutes; never null
};

export type WentBack = Rewind & {
  text: string; // the prompt in full, for the box; what follows was chosen for it
  plan?: boolean;
  attachments?: Attachment[];
  model?: string;
  effort?: string;
  notices: string[] | null;
};

export type WorkspaceSeed = {
  original: string; // host path
  copy: string; // host path, of Loop's own
};

export type WorktreeRequest = {
  parent_id: ChannelID;
  branch: string;
  name?: string;
  base?: string;
};

/** What each event carries; unknown where Go has no type for it. */
export type EventData = {
  "message.created": MessageCreated;
  "message.streaming": MessageStreaming;
  "agent.thinking": Thinking;
  "tool.use": ToolUse;
  "tool.result": ToolResult;
  "agent.activity": Activity;
  "agent.status": Status;
  "run.notice": Notice;
  "run.attempt": Attempt;
  "run.background": Background;
  "agent.ask_user": Question;
  "agent.exit_plan": Question;
  "agent.ask_resolved": Question;
  "agent.plan_resolved": Question;
  "agent.todos": unknown;
  "message.updated": MessageUpdated;
  "messages.processed": unknown;
  "agent_instance.registered": unknown;
  "agent_instance.unregistered": unknown;
  "message.deleted": MessageUpdated;
  "agent.raw": unknown;
  "queue.changed": Run;
  "channel.created": Channel;
  "channel.updated": Channel;
  "channel.deleted": unknown;
  "container.registered": Container;
  "container.status_changed": Container;
  "container.removed": Container;
  "image.build_status": ImageStatus;
  "engine.status": EngineStatus;
  "config.changed": ConfigStatus;
  "signin.changed": SignInState;
  "trust.requested": TrustRequested;
  "terminal.created": TerminalInfo;
  "terminal.changed": TerminalInfo;
  "terminal.removed": TerminalInfo;
  "terminal.talk": TerminalTalk;
  "gate.asked": Approval;
  "gate.changed": Approval;
  "gate.resolved": Approval;
  "gate.decided": GateDecisions;
  "gate.status": GateStatus;
  "gate.rules": unknown;
  "browser.frame": unknown;
  "browser.held": BrowserHeld;
  "rewind.went": Rewind;
  "rewind.undone": Rewind;
  "reset": unknown;
};

/** Calls one bound method. */
export type Call = <T>(service: string, method: string, ...args: unknown[]) => Promise<T>;

export const bound = (call: Call) => ({
  channels: {
    add: (dir: string, name: string) => call<ChannelView>("Channels", "Add", dir, name),
    agents: () => call<AgentChoice[] | null>("Channels", "Agents"),
    branches: (id: string) => call<BranchList>("Channels", "Branches", id),
    choose: (id: string, chosen: ChannelChoices) => call<ChannelView>("Channels", "Choose", id, chosen),
    createThread: (req: ThreadRequest) => call<ChannelView>("Channels", "CreateThread", req),
    createWorktree: (req: WorktreeRequest) => call<ChannelView>("Channels", "CreateWorktree", req),
    demo: () => call<ChannelView>("Channels", "Demo"),
    find: (q: FindQuery) => call<FoundEvents>("Channels", "Find", q),
    folders: (path: string) => call<FolderList>("Channels", "Folders", path),
    forkAt: (id: string, start: SessionStart, name: string) => call<ChannelView>("Channels", "ForkAt", id, start, name),
    history: (id: string, query: string, limit: number) => call<string[] | null>("Channels", "History", id, query, limit),
    pickFolder: () => call<string>("Channels", "PickFolder"),
    remove: (id: string) => call<null>("Channels", "Remove", id),
    removeTree: (id: string, removeFiles: boolean) => call<null>("Channels", "RemoveTree", id, removeFiles),
    rename: (id: string, name: string) => call<null>("Channels", "Rename", id, name),
    sessions: (id: string) => call<SessionInfo[] | null>("Channels", "Sessions", id),
    setSession: (id: string, start: SessionStart) => call<ChannelView>("Channels", "SetSession", id, start),
    timeline: (id: string, beforeID: number, limit: number) => call<TimelinePage>("Channels", "Timeline", id, beforeID, limit),
  },
  containers: {
    log: (container: string, since: string, tail: number) => call<ContainerLog>("Containers", "Log", container, since, tail),
    ports: (container: string, ask: boolean) => call<ContainerPort[] | null>("Containers", "Ports", container, ask),
    prune: (dry: boolean, only: ContainerID[] | null) => call<PrunedContainer[] | null>("Containers", "Prune", dry, only),
    recreate: (channelID: string) => call<boolean>("Containers", "Recreate", channelID),
    remove: (container: string, force: boolean) => call<Container>("Containers", "Remove", container, force),
    stop: (container: string) => call<Container>("Containers", "Stop", container),
    warm: (channelID: string) => call<null>("Containers", "Warm", channelID),
    watch: () => call<ContainerWatch>("Containers", "Watch"),
  },
  files: {
    attach: (channelID: string, name: string, data: string) => call<Attachment>("Files", "Attach", channelID, name, data),
    attachFile: (channelID: string, path: string) => call<Attachment>("Files", "AttachFile", channelID, path),
    attachment: (channelID: string, id: string) => call<string>("Files", "Attachment", channelID, id),
    commands: (channelID: string) => call<SlashCommands>("Files", "Commands", channelID),
    detach: (channelID: string, id: string) => call<null>("Files", "Detach", channelID, id),
    edit: (channelID: string, path: string, line: number, column: number) => call<EditorOpened>("Files", "Edit", channelID, path, line, column),
    find: (channelID: string, query: string, limit: number, recent: string[] | null) => call<FileMatches>("Files", "Find", channelID, query, limit, recent),
    list: (channelID: string, path: string) => call<FileListing>("Files", "List", channelID, path),
    read: (channelID: string, path: string, most: number) => call<FileContent>("Files", "Read", channelID, path, most),
  },
  footage: {
    frames: (runID: string) => call<KeptFrame[] | null>("Footage", "Frames", runID),
    saveExport: (runID: string) => call<string>("Footage", "SaveExport", runID),
  },
  gate: {
    answer: (id: string, a: ApprovalAnswer) => call<Approval>("Gate", "Answer", id, a),
    extend: (id: string) => call<Approval>("Gate", "Extend", id),
  },
  gateLog: {
    chain: (channelID: ChannelID) => call<GateChain>("GateLog", "Chain", channelID),
    page: (q: GateLogPageQuery) => call<GateLogPage>("GateLog", "Page", q),
    summary: (q: GateLogPageQuery) => call<GateLogSummary>("GateLog", "Summary", q),
    why: (channelID: ChannelID, id: string) => call<GateWhy>("GateLog", "Why", channelID, id),
  },
  gateRules: {
    edit: (e: GateRuleEdit) => call<GateRuleList>("GateRules", "Edit", e),
    list: (channelID: ChannelID, policy: string) => call<GateRuleList>("GateRules", "List", channelID, policy),
    matches: (channelID: ChannelID, candidate: GateCandidate) => call<GateRuleMatches>("GateRules", "Matches", channelID, candidate),
    setMode: (channelID: ChannelID, mode: string) => call<GateRuleList>("GateRules", "SetMode", channelID, mode),
    suggestions: (channelID: ChannelID) => call<GateSuggestion[] | null>("GateRules", "Suggestions", channelID),
    try: (req: GateTryRequest) => call<GateTry>("GateRules", "Try", req),
    undo: (channelID: ChannelID, id: string) => call<GateRuleList>("GateRules", "Undo", channelID, id),
  },
  review: {
    branch: (channelID: string, name: string) => call<null>("Review", "Branch", channelID, name),
    commit: (channelID: string, message: string) => call<ReviewCommit>("Review", "Commit", channelID, message),
    file: (channelID: string, scope: ReviewScope, path: string) => call<ReviewDiff>("Review", "File", channelID, scope, path),
    proceed: (channelID: string, abort: boolean) => call<null>("Review", "Proceed", channelID, abort),
    reject: (channelID: string, path: string, hunks: string[] | null) => call<ReviewUndo>("Review", "Reject", channelID, path, hunks),
    stage: (channelID: string, path: string, hunks: string[] | null, mark: string) => call<null>("Review", "Stage", channelID, path, hunks, mark),
    status: (channelID: string, scope: ReviewScope) => call<ReviewStatus>("Review", "Status", channelID, scope),
    undo: (channelID: string, id: string) => call<null>("Review", "Undo", channelID, id),
    unstage: (channelID: string, path: string, hunks: string[] | null) => call<null>("Review", "Unstage", channelID, path, hunks),
  },
  rewind: {
    back: (runID: string, req: BackRequest) => call<WentBack>("Rewind", "Back", runID, req),
    diff: (runID: string, path: string) => call<BackDiff>("Rewind", "Diff", runID, path),
    preview: (runID: string) => call<RewindPreview>("Rewind", "Preview", runID),
    undo: (id: string) => call<WentBack>("Rewind", "Undo", id),
  },
  runs: {
    answer: (id: string, a: Answer) => call<Question>("Runs", "Answer", id, a),
    cancel: (id: string) => call<null>("Runs", "Cancel", id),
    edit: (id: string, prompt: string) => call<Run>("Runs", "Edit", id, prompt),
    hold: (id: string) => call<Run>("Runs", "Hold", id),
    prompt: (req: PromptRequest) => call<Run>("Runs", "Prompt", req),
    questions: () => call<Question[] | null>("Runs", "Questions"),
    release: (id: string) => call<null>("Runs", "Release", id),
    remove: (id: string) => call<null>("Runs", "Remove", id),
    reorder: (channelID: string, ids: RunID[] | null) => call<Run[] | null>("Runs", "Reorder", channelID, ids),
    retry: (id: string) => call<Run>("Runs", "Retry", id),
    steer: (id: string) => call<null>("Runs", "Steer", id),
  },
  settings: {
    approve: (channelID: string, path: string, sha256: string) => call<SettingsView>("Settings", "Approve", channelID, path, sha256),
    change: (scope: string, channelID: string, field: string, value: unknown, was: unknown) => call<SettingsView>("Settings", "Change", scope, channelID, field, value, was),
    check: (scope: string, channelID: string, text: string) => call<SettingsProblem[] | null>("Settings", "Check", scope, channelID, text),
    claudeSetup: () => call<ClaudeSetupView>("Settings", "ClaudeSetup"),
    decline: (channelID: string, path: string, sha256: string) => call<SettingsView>("Settings", "Decline", channelID, path, sha256),
    get: (channelID: string) => call<SettingsView>("Settings", "Get", channelID),
    history: (scope: string, channelID: string) => call<SettingsRevision[] | null>("Settings", "History", scope, channelID),
    keepTheme: (name: string, text: string) => call<Theme>("Settings", "KeepTheme", name, text),
    raw: (scope: string, channelID: string) => call<RawSettings>("Settings", "Raw", scope, channelID),
    readTheme: (name: string, text: string) => call<ReadTheme>("Settings", "ReadTheme", name, text),
    removeTheme: (name: string) => call<null>("Settings", "RemoveTheme", name),
    restore: (id: string) => call<SettingsView>("Settings", "Restore", id),
    revision: (id: string) => call<SettingsRevisionText>("Settings", "Revision", id),
    schema: () => call<unknown>("Settings", "Schema"),
    set: (scope: string, channelID: string, field: string, value: unknown) => call<SettingsView>("Settings", "Set", scope, channelID, field, value),
    setRaw: (scope: string, channelID: string, text: string, sha256: string) => call<SettingsView>("Settings", "SetRaw", scope, channelID, text, sha256),
    themes: () => call<Theme[] | null>("Settings", "Themes"),
    unset: (scope: string, channelID: string, field: string) => call<SettingsView>("Settings", "Unset", scope, channelID, field),
  },
  system: {
    adoptCredentials: () => call<ConfigStatus>("System", "AdoptCredentials"),
    answered: () => call<null>("System", "Answered"),
    beginSignIn: () => call<SignInState>("System", "BeginSignIn"),
    buildImage: () => call<null>("System", "BuildImage"),
    buildOutput: () => call<BuildOutput>("System", "BuildOutput"),
    buildSandboxImage: (w: SandboxImage) => call<null>("System", "BuildSandboxImage", w),
    cancelImageBuild: () => call<null>("System", "CancelImageBuild"),
    clearCredential: (kind: CredentialKind) => call<ConfigStatus>("System", "ClearCredential", kind),
    credentials: () => call<CredentialStatus[] | null>("System", "Credentials"),
    doctor: () => call<DoctorReport>("System", "Doctor"),
    endSignIn: () => call<null>("System", "EndSignIn"),
    explain: (channelID: string, plan: boolean) => call<Explanation>("System", "Explain", channelID, plan),
    fix: (id: string) => call<DoctorCheck>("System", "Fix", id),
    giveSignInCode: (code: string) => call<SignInState>("System", "GiveSignInCode", code),
    hide: () => call<null>("System", "Hide"),
    keep: (key: string, value: string) => call<null>("System", "Keep", key, value),
    leaving: () => call<Leaving>("System", "Leaving"),
    look: (looking: boolean, channelID: string) => call<null>("System", "Look", looking, channelID),
    memory: () => call<Record<string, string> | null>("System", "Memory"),
    openURL: (link: string) => call<null>("System", "OpenURL", link),
    quit: () => call<null>("System", "Quit"),
    sandboxImageStatus: (kind: string) => call<ImageStatus>("System", "SandboxImageStatus", kind),
    saveCredential: (kind: CredentialKind, value: string, anyway: boolean) => call<SavedCredential>("System", "SaveCredential", kind, value, anyway),
    setDoNotDisturb: (on: boolean) => call<null>("System", "SetDoNotDisturb", on),
    setTheme: (theme: string) => call<null>("System", "SetTheme", theme),
    signInNow: () => call<SignInState>("System", "SignInNow"),
    snapshot: () => call<Snapshot>("System", "Snapshot"),
    stopCredentialTrial: () => call<null>("System", "StopCredentialTrial"),
    tryCredential: (kind: CredentialKind) => call<KeyTrial>("System", "TryCredential", kind),
  },
  terminals: {
    close: (id: string) => call<null>("Terminals", "Close", id),
    containerPath: (channelID: string, hostPath: string) => call<string>("Terminals", "ContainerPath", channelID, hostPath),
    deleteRecording: (name: string) => call<null>("Terminals", "DeleteRecording", name),
    list: (channelID: string) => call<TerminalInfo[] | null>("Terminals", "List", channelID),
    pasteFile: (channelID: string, name: string, data: string) => call<string>("Terminals", "PasteFile", channelID, name, data),
    pasteHostFile: (channelID: string, hostPath: string) => call<string>("Terminals", "PasteHostFile", channelID, hostPath),
    readFile: (channelID: string, target: TerminalTarget, dir: string, name: string, line: number) => call<FilePart>("Terminals", "ReadFile", channelID, target, dir, name, line),
    recordings: () => call<Recording[] | null>("Terminals", "Recordings"),
    rename: (id: string, title: string) => call<TerminalInfo>("Terminals", "Rename", id, title),
  },
  workspaces: {
    anew: (channelID: string) => call<TrashedCopy>("Workspaces", "Anew", channelID),
    compare: (channelID: string) => call<CopyComparison>("Workspaces", "Compare", channelID),
    discard: (copyDir: string) => call<TrashedCopy>("Workspaces", "Discard", copyDir),
    left: () => call<LeftCopy[] | null>("Workspaces", "Left"),
    promote: (channelID: string, marks: Record<string, string> | null) => call<TrashedCopy>("Workspaces", "Promote", channelID, marks),
    pull: (channelID: string, marks: Record<string, string> | null) => call<TrashedCopy>("Workspaces", "Pull", channelID, marks),
    restore: (id: string) => call<TrashedCopy>("Workspaces", "Restore", id),
    texts: (channelID: string, path: string) => call<CopyTexts>("Workspaces", "Texts", channelID, path),
    trash: () => call<TrashedCopy[] | null>("Workspaces", "Trash"),
  },
});
