// Mock settings of Loop and of projects, for flows that only read them. Flows that change settings run on a real Loop.
import { createHash } from "node:crypto";
import { fail, newID } from "./world.mjs";

const sum = (text) => createHash("sha256").update(text).digest("hex");
const GROUPS = [["access", "Model access"], ["agents", "Agents"], ["containers", "Containers"], ["files", "Files and variables"], ["network", "Network"], ["look", "Look"], ["notifications", "Notifications"], ["image", "Image"], ["loop", "Loop itself"]].map(([id, name]) => ({ id, name }));
const FIELDS = [
  { name: "anthropic_api_key", group: "access", title: "Anthropic API key", words: "key sign in login credential", kind: "text", default: null, doc: "Key of the Anthropic API.", merge: "override", project: "trust", secret: true },
  { name: "anthropic_base_url", group: "access", title: "Address of the model", words: "endpoint url server gateway", kind: "text", default: null, doc: "Where the Messages API is.", merge: "override", project: "trust" },
  { name: "claude_model", group: "agents", title: "Model", words: "opus sonnet haiku which cost price", kind: "text", default: null, doc: "Model; empty leaves the choice to the CLI.", merge: "override", project: "free" },
  { name: "claude_setup", group: "agents", title: "Your Claude set-up", words: "skills hooks dotfiles own", kind: "text", default: null, doc: "Your own Claude Code set-up.", one_of: ["", "none", "read"], merge: "override", project: "tighten" },
  { name: "container_memory_mb", group: "containers", title: "Memory limit", words: "ram oom limits", kind: "integer", default: 2048, doc: "Memory limit of a container.", unit: "MiB", min: "256", merge: "override", project: "tighten" },
  { name: "mounts", group: "files", title: "Mounts", words: "volumes binds folders", kind: "list", default: null, doc: "host:container[:mode] strings.", merge: "by target", project: "trust" },
  { name: "envs", group: "files", title: "Environment variables", words: "env export", kind: "object", default: null, doc: "Environment variables of containers.", merge: "by key", project: "trust" },
  { name: "container_network", group: "network", title: "Network of containers", words: "internet offline egress", kind: "text", default: "bridge", doc: "bridge, none, or the name of a network.", merge: "override", project: "tighten" },
  { name: "theme", group: "look", title: "Theme", words: "dark light contrast night mode", kind: "text", default: "system", doc: "Look of the window.", one_of: ["system", "dark", "light", "contrast"], merge: "override", project: "never" },
  { name: "font_sizes.chat", group: "look", title: "Text size of the timeline", words: "font zoom", kind: "integer", default: 13, doc: "Timeline.", unit: "px", min: "8", max: "40", merge: "override", project: "never" },
  { name: "notify_sound", group: "notifications", title: "Sound", words: "notifications noise mute", kind: "boolean", default: false, doc: "Let the desktop play its sound.", merge: "override", project: "never" },
  { name: "container_image_autobuild", group: "image", title: "Build the image by itself", words: "docker automatic", kind: "boolean", default: true, doc: "Build the image when it is missing.", merge: "override", project: "never" },
  { name: "log_level", group: "loop", title: "What is logged", words: "debug verbose", kind: "text", default: "info", doc: "Least serious message that is logged.", one_of: ["debug", "info", "warn", "error"], merge: "override", project: "never" },
];
const SCHEMA = { properties: Object.fromEntries(FIELDS.map((f) => [f.name, { type: [{ list: "array", text: "string" }[f.kind] ?? f.kind, "null"], description: f.doc, ...(f.one_of ? { enum: f.one_of } : {}) }])) };

/** A set-up as people have it, for flows that need one. */
export const OWN_SETUP = {
  folder: "/home/ana/.claude",
  files: ["CLAUDE.md", "agents/db-expert.md", "agents/reviewer.md", "commands/ship.md", "skills/deploy/SKILL.md", "skills/deploy/rollout.sh", "skills/release-notes/SKILL.md", "skills/sql/SKILL.md"].map((path) => ({ path, bytes: 900 })),
  settings: ["alwaysThinkingEnabled", "language", "permissions.deny"],
  asks: [
    { id: "env:EDITOR", text: "The variable EDITOR", detail: "nvim", allowed: false },
    { id: "hooks", text: "Hooks: programs that run at what the agent does", detail: "gofmt -l .\n~/.claude/notify.sh done", allowed: false },
    { id: "mcp:tickets", text: "The MCP server tickets", detail: "npx -y @example/tickets-mcp --team api\nwith the variables TICKETS_HOST", allowed: false },
    { id: "plugin:lint@example", text: "The plugin lint@example", detail: "programs and instructions in plugins/cache/example/lint", allowed: false },
  ],
  left: [
    { text: "settings.json: apiKeyHelper", reason: "Loop gives agents their key." },
    { text: "settings.json: env ANTHROPIC_BASE_URL", reason: "Loop sets such variables, or keeps them from agents; “envs” in its settings is for the rest." },
    { text: "skills/sql/.env", reason: "Its name says that it may hold a credential." },
  ],
};

export class Settings {
  constructor(world) {
    this.w = world;
    this.texts = { global: "{\n  // mine\n  \"container_memory_mb\": 4096\n}\n", project: "" };
    this.own = { grant: "", allow: [], setup: { folder: "/home/ana/.claude", files: [], settings: [], asks: [], left: [] } };
    this.approved = false;
    this.toolchains = [];
    this.revisions = [{ id: newID(), scope: "global", source: "initial", at: new Date(Date.now() - 9e7).toISOString(), text: this.texts.global }];
    this.trials = {};
    this.answer = "accepted"; // of the model, when a key is tried; “waits” until it is stopped
    this.signIn = { step: "none", asks: false };
    this.keys = world.config.has_credentials ? { anthropic_api_key: "config" } : {};
  }

  parse(scope) {
    const text = this.texts[scope];
    return text.trim() === "" ? {} : JSON.parse(text.replace(/^\s*\/\/.*$/gm, "").replace(/,(\s*})/g, "$1"));
  }

  line(scope, field) {
    return this.texts[scope].split("\n").findIndex((l) => l.includes(`"${field}"`)) + 1;
  }

  path(scope, channel) {
    return scope === "global" ? this.w.config.path : `${this.w.channels.get(channel).dir}/.loop/config.json`;
  }

  view(channel) {
    const said = { global: this.parse("global"), project: channel ? this.parse("project") : {} };
    const waiting = [];
    const fields = FIELDS.map((f) => {
      const layers = [];
      let value = f.default;
      let origin = { layer: "built-in" };
      for (const scope of ["global", "project"]) {
        if (!(f.name in said[scope])) continue;
        const ok = scope === "global" || this.approved || f.project === "free";
        if (!ok && f.project !== "never") waiting.push(f.name);
        layers.push({ layer: scope, value: said[scope][f.name], line: this.line(scope, f.name), in_force: ok });
        if (ok) [value, origin] = [said[scope][f.name], { layer: scope, path: this.path(scope, channel), line: this.line(scope, f.name), col: 3 }];
      }
      return { ...f, value, origin, layers };
    });
    return {
      channel_id: channel, groups: GROUPS, path: this.w.config.path, ...(channel ? { project_path: this.path("project", channel) } : {}), fields, approved: [],
      toolchains: this.toolchains,
      problems: this.w.config.problems.map((p) => ({ path: this.w.config.path, warning: false, ...p })),
      pending: [...this.toolchains.filter((t) => t.state === "undecided").map((t) => ({ path: t.path, sha256: t.sha256, fields: t.fields, diff: t.diff })), ...(waiting.length ? [{ path: this.path("project", channel), sha256: sum(this.texts.project), fields: waiting, diff: `--- approved\n+++ now\n@@ -0,0 +1,3 @@\n${this.texts.project.trimEnd().split("\n").map((l) => `+${l}`).join("\n")}\n` }] : [])],
    };
  }

  credentials() {
    return ["claude_code_oauth_token", "anthropic_api_key"].map((kind) => ({ kind, set: Boolean(this.keys[kind]), ...(this.keys[kind] ? { where: this.keys[kind] } : {}), in_use: Boolean(this.keys[kind]), ...(this.trials[kind] ? { trial: this.trials[kind] } : {}) }));
  }

  config() {
    const kind = Object.keys(this.keys)[0];
    Object.assign(this.w.config, { has_credentials: Boolean(kind), credential_kind: kind });
    this.w.emit("config.changed", "", "", this.w.config);
    return this.w.config;
  }

  /** A trial of a key, as Loop words it. */
  async trial() {
    let state = this.answer;
    if (state === "waits") state = await new Promise((resolve) => { this.stopTrial = () => resolve("stopped"); });
    const from = "Loop asked from this computer. Runs in containers ask over their network, “bridge”.";
    const said = {
      accepted: { cause: `api.anthropic.com accepted the key. ${from}` }, stopped: { cause: "The trial was stopped." },
      refused: { cause: "api.anthropic.com refused the key (401).", remedy: "Copy it again from console.anthropic.com, under API keys." },
      unreached: { cause: `api.anthropic.com could not be reached, so the key was not tried. ${from}`, remedy: "Check the network, and the proxy in the settings. Then try it again.", detail: "no answer in time" },
      unsure: { cause: `api.anthropic.com answered 529, which says nothing of the key. ${from}` },
    }[state];
    return { state, host: "api.anthropic.com", at: Date.now(), took_ms: 900, ...said };
  }

  signsIn(change) {
    this.signIn = change;
    this.w.emit("signin.changed", "", "", change);
    return change;
  }

  write(scope, ch, text) {
    this.texts[scope] = text;
    this.w.emit("config.changed", "", "", { ...this.w.config });
    return this.view(ch);
  }

  calls() {
    return {
      "Settings.Schema": () => SCHEMA,
      "Settings.Check": (scope, ch, text) => {
        const at = text.split("\n").findIndex((l) => l.includes("thme"));
        return at < 0 ? [] : [{ path: this.path(scope, ch), line: at + 1, col: text.split("\n")[at].indexOf("\"") + 1, field: "thme", message: "“thme” is not a setting that Loop knows.", remedy: "Did you mean “theme”?", warning: true }];
      },
      "Settings.SetRaw": (scope, ch, text, sha) => {
        if (sha !== sum(this.texts[scope])) throw fail("conflict", "The settings file has changed since it was shown.", "Look at it again.");
        return this.write(scope, ch, text);
      },
      "Settings.Change": (scope, ch, field, value, was) => {
        const said = this.parse(scope);
        if (JSON.stringify(said[field] ?? null) !== JSON.stringify(was)) throw fail("conflict", "The settings file has another value by now.", "Look at it.");
        if (value === null) delete said[field];
        else said[field] = value;
        return this.write(scope, ch, `${JSON.stringify(said, null, 2)}\n`);
      },
      "System.SaveCredential": async (kind, value, anyway) => {
        const trial = anyway ? (this.last ?? (await this.trial())) : await this.trial();
        this.last = trial;
        const stored = anyway || !["refused", "stopped"].includes(trial.state);
        if (stored) [this.keys[kind], this.trials[kind]] = ["keyring", trial];
        return { stored, trial, config: stored ? this.config() : this.w.config };
      },
      "System.TryCredential": async (kind) => (this.trials[kind] = await this.trial()),
      "System.StopCredentialTrial": () => { this.stopTrial?.(); return null; },
      "System.SignInNow": () => this.signIn,
      "System.BeginSignIn": () => this.signsIn({ step: "starting", asks: false }),
      "System.GiveSignInCode": () => this.signsIn({ ...this.signIn, step: "checking" }),
      "System.EndSignIn": () => { this.signsIn({ step: "none", asks: false }); return null; },
      "Settings.ClaudeSetup": () => ({ grant: this.own.grant, setup: { ...this.own.setup, asks: this.own.setup.asks.map((a) => ({ ...a, allowed: this.own.allow.includes(a.id) })) } }),
      "Settings.Set": (scope, ch, field, value) => {
        if (scope !== "global" || !["claude_setup", "claude_setup_allow"].includes(field)) throw fail("invalid", `The mock sets no ${field}.`, "Use a real Loop.");
        this.own[field === "claude_setup" ? "grant" : "allow"] = value;
        this.w.emit("config.changed", "", "", { ...this.w.config });
        return this.view(ch);
      },
      "Settings.Get": (ch) => this.view(ch),
      "Settings.Raw": (scope, ch) => ({ path: this.path(scope, ch), text: this.texts[scope], sha256: sum(this.texts[scope]) }),
      "Settings.Approve": (ch) => { this.approved = true; return this.view(ch); },
      "Settings.Decline": (ch, path) => { for (const t of this.toolchains) if (t.path === path) t.state = "declined"; return this.view(ch); },
      "Settings.History": (scope, ch) => this.revisions.filter((r) => r.scope === scope).map((r) => ({ id: r.id, path: this.path(scope, ch), source: r.source, at: r.at, added: 1, removed: 0 })),
      "Settings.Revision": (id) => { const r = this.revisions.find((x) => x.id === id); return { id, text: r.text, diff: `@@ -1,1 +1,1 @@\n+${r.text.split("\n")[1]}\n` }; },
      "System.Credentials": () => this.credentials(),
      "System.ClearCredential": (kind) => { delete this.keys[kind]; return this.config(); },
    };
  }
}
