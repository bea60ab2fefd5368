// Mock runs: they send the events of real ones, at a speed that a test chooses.
import { PLAN, QUESTIONS } from "./branches.mjs";
import { offers } from "./gate.mjs";
import { newID, used } from "./world.mjs";

export class Player {
  constructor(world, speed = 1) {
    this.w = world;
    this.speed = speed;
    this.timers = new Map(); // run → how to cut it short
    this.held = false; // no queued run begins
    this.paused = false; // every run stands still
    this.pauseAt = ""; // runs pause once one has said this text
    this.endless = false; // an essay never ends
  }

  wait(run, ms) {
    return new Promise((resolve, reject) => {
      let t;
      const over = () => {
        if (this.paused) return void (t = setTimeout(over, 5));
        this.timers.delete(run.run_id);
        return resolve();
      };
      t = setTimeout(over, ms / this.speed);
      this.timers.set(run.run_id, () => { clearTimeout(t); reject(new Error("cancelled")); });
    });
  }

  enqueue(req) {
    const known = this.w.runs.get(req.client_id);
    if (known) return known; // a prompt sent twice is one run
    const demo = this.w.channels.get(req.channel_id)?.kind === "demo";
    const run = { run_id: req.client_id || newID(), channel_id: req.channel_id, prompt: req.prompt, state: "queued", priority: 0, demo, created_at: new Date().toISOString() };
    const q = this.w.queues.get(run.channel_id);
    if (req.delay_seconds) run.not_before = new Date(Date.now() + req.delay_seconds * 1000).toISOString();
    if (req.plan) run.plan = true;
    if (req.attachments) run.attachments = req.attachments;
    this.w.runs.set(run.run_id, run);
    if (req.interrupt) {
      run.priority = Math.max(0, ...q.map((r) => r.priority)) + 1;
      q.unshift(run);
    } else q.push(run);
    if (req.interrupt) this.interrupt(run.channel_id);
    this.w.emit("queue.changed", run.channel_id, run.run_id, run);
    queueMicrotask(() => this.drain(run.channel_id));
    const open = [...this.w.questions.values()].find((x) => x.state === "open" && x.channel_id === run.channel_id);
    if (!open) return { ...run };
    return { ...run, waits_for: { reason: open.kind === "exit_plan" ? "plan" : "question", question_id: open.question_id } };
  }

  drain(channel) {
    if (this.held) return;
    const busy = [...this.w.runs.values()].some((r) => r.channel_id === channel && (r.state === "starting" || r.state === "running"));
    const q = this.w.queues.get(channel) ?? [];
    const now = Date.now();
    const run = q.find((r) => !r.not_before || Date.parse(r.not_before) <= now);
    if (busy || !run || run.hold_until || this.w.parked(channel)) return;
    q.splice(q.indexOf(run), 1);
    run.state = "starting";
    run.started_at = new Date().toISOString();
    this.w.emit("queue.changed", channel, run.run_id, run);
    this.play(run).catch((e) => {
      if (e.message === "cancelled") this.stopped(run);
      else throw e;
    });
  }

  status(run, state, more = {}) {
    run.state = state;
    const word = state === "done" ? "completed" : state === "failed" || state === "cancelled" || state === "interrupted" ? "error" : "running";
    this.w.emit("agent.status", run.channel_id, run.run_id, { status: word, state, ...more });
  }

  end(run, state, more) {
    const ch = this.w.channels.get(run.channel_id);
    if (ch?.kind === "demo") more = { ...more, cost_usd: 0, model_usage: [], context: undefined, model: "scripted" };
    run.ended_at = new Date().toISOString();
    run.outcome = more;
    this.w.live.delete(run.channel_id);
    this.w.cost += more.cost_usd ?? 0;
    this.w.costEstimated ||= !!more.cost_estimated;
    if (ch && more.context) ch.context = more.context;
    this.status(run, state, { duration_ms: Date.now() - Date.parse(run.started_at), ...more });
    for (const c of this.w.containers) {
      if (c.run_id !== run.run_id) continue;
      c.status = "pending-removal";
      c.remove_at = new Date(Date.now() + 300_000).toISOString();
      this.w.emit("container.status_changed", run.channel_id, run.run_id, c);
    }
    this.drain(run.channel_id);
  }

  /** Stores the text said so far and names the task that ended with the run. */
  stopped(run) {
    const live = this.w.live.get(run.channel_id);
    for (const b of live?.blocks ?? []) {
      if (!b.text) continue;
      if (b.kind === "thinking") this.w.emit("agent.thinking", run.channel_id, run.run_id, { msg_id: live.msg_id, text: b.text, cut: true });
      else this.w.emit("message.created", run.channel_id, run.run_id, { msg_id: live.msg_id, content: b.text, is_bot: true, cut: true });
    }
    if (run.task) this.w.emit("run.notice", run.channel_id, run.run_id, { level: "warning", text: `Ended with the run: ${run.task}` });
    // A stopped agent cannot report its cost, so the cost is an estimate.
    this.end(run, run.task ? "done" : "cancelled", run.said ? used(0.0062, 43, true) : {});
  }

  async start(run) {
    this.w.emit("message.created", run.channel_id, run.run_id, { msg_id: newID(), content: run.prompt, is_bot: false, attachments: run.attachments });
    this.status(run, "starting", { step: "image" });
    await this.wait(run, 120);
    this.status(run, "starting", { step: "container" });
    const name = `loop-${this.w.channels.get(run.channel_id).name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}-${newID().slice(0, 6)}`;
    const c = { container_id: newID() + newID(), container_name: name, channel_id: run.channel_id, run_id: run.run_id, type: "agent", status: "running", image: "loop-agent:latest", created_at: new Date().toISOString() };
    this.w.containers.push(c);
    if (run.plan) this.w.emit("run.notice", run.channel_id, run.run_id, { level: "info", text: "This run plans first: your folders and volumes are read-only in its container." });
    this.w.emit("container.registered", run.channel_id, run.run_id, c);
    await this.wait(run, 240);
    this.status(run, "starting", { step: "link" });
    await this.wait(run, 60);
    this.status(run, "starting", { step: "agent" });
    this.status(run, "running");
    this.w.emit("agent.activity", run.channel_id, run.run_id, { activity: "init", model: "claude-sonnet-4-5-20250929" });
    await this.wait(run, 400);
  }

  async stream(run, kind, text, msgId = `msg_${newID().slice(0, 12)}`, block = 0, piece = 12) {
    run.said = true;
    const live = { run_id: run.run_id, msg_id: msgId, blocks: [] };
    for (let i = 0; i < block; i++) live.blocks.push({ kind: "text", text: "" });
    live.blocks[block] = { kind, text: "" };
    this.w.live.set(run.channel_id, live);
    let offset = 0;
    for (let i = 0; i < text.length; i += piece) {
      const delta = text.slice(i, i + piece);
      live.blocks[block].text += delta;
      this.w.emit("message.streaming", run.channel_id, run.run_id, { msg_id: msgId, block, kind, offset, delta });
      offset += Buffer.byteLength(delta);
      if (this.pauseAt && live.blocks[block].text.includes(this.pauseAt)) [this.paused, this.pauseAt] = [true, ""];
      await this.wait(run, 24);
    }
    this.w.live.delete(run.channel_id);
    if (kind === "thinking") this.w.emit("agent.thinking", run.channel_id, run.run_id, { msg_id: msgId, text });
    else this.w.emit("message.created", run.channel_id, run.run_id, { msg_id: msgId, content: text, is_bot: true, uuid: newID() });
    return msgId;
  }

  async tool(run, name, input, output, ms = 200, more = {}) {
    const id = `toolu_${newID().slice(0, 12)}`;
    this.w.emit("tool.use", run.channel_id, run.run_id, { tool_use_id: id, tool_name: name, input });
    await this.wait(run, ms);
    this.w.emit("tool.result", run.channel_id, run.run_id, { tool_use_id: id, output, is_error: false, ...more });
  }

  async play(run) {
    await this.start(run);
    const dir = this.w.channels.get(run.channel_id).dir;
    const p = run.prompt.toLowerCase();
    if (p.includes("401")) {
      this.end(run, "failed", { failure: { code: "model_auth", cause: "The model refused the key (401).", remedy: "Check the key in the settings; it may have been revoked.", detail: "POST https://api.anthropic.com/v1/messages: 401\n{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"invalid x-api-key\"}}" }, exit_code: 1 });
      return;
    }
    if (p.includes("no image")) {
      this.end(run, "failed", { failure: { code: "image_missing:sandbox-common", cause: "Sandbox image not found: openclaw-sandbox-common:bookworm-slim. Build or pull it first.", remedy: "“loop image build sandbox-common” builds it, and so does the button here." } });
      return;
    }
    if (p.includes("retries")) {
      this.w.emit("agent.todos", run.channel_id, run.run_id, { todos: [{ content: "Read the code", status: "completed" }, { content: "Move the lock", status: "in_progress" }, { content: "Test it", status: "pending" }] });
      this.w.emit("run.attempt", run.channel_id, run.run_id, { number: 2, kind: "transient", transient: 1, of: 5, reason: "The model is overloaded (529).", delay_ms: 5000 });
      this.w.emit("run.attempt", run.channel_id, run.run_id, { number: 3, kind: "compact", reason: "The conversation has become too long for the model." });
      this.w.emit("run.attempt", run.channel_id, run.run_id, { number: 4, kind: "compacted" });
    }
    if (p.includes("ask me")) {
      this.w.ask(run, "ask_user", { questions: QUESTIONS, read_only: !!run.plan });
      this.end(run, "done", { stop_reason: "ask_user", model: "claude-sonnet-4-5-20250929", num_turns: 1, ...used(0.004, 3) });
      return;
    }
    if (p.includes("make a plan")) {
      this.w.ask(run, "exit_plan", { plan: PLAN, read_only: !!run.plan, planFilePath: "/home/ana/.claude/plans/lock.md" });
      this.end(run, "done", { stop_reason: "exit_plan", model: "claude-sonnet-4-5-20250929", num_turns: 1, ...used(0.004, 3) });
      return;
    }
    if (p.includes("dev server")) {
      const task = { task_id: "b1", kind: "command", what: "npm run dev -- --port 5173" };
      this.w.emit("run.background", run.channel_id, run.run_id, { tasks: [task], waiting: false });
      await this.tool(run, "Bash", { command: task.what, run_in_background: true }, "Command running in background with ID: b1.", 40);
      await this.stream(run, "text", "The dev server runs on port 5173.");
      this.w.emit("run.background", run.channel_id, run.run_id, { tasks: [task], waiting: true });
      run.task = task.what;
      await this.wait(run, 3_600_000);
    }
    if (p.includes("git config")) {
      const id = `toolu_${newID().slice(0, 12)}`;
      this.w.emit("tool.use", run.channel_id, run.run_id, { tool_use_id: id, tool_name: "Bash", input: { command: "git config --global rerere.enabled true" } });
      const ch = this.w.channels.get(run.channel_id);
      const held = this.gate.ask(ch, { tool_use_id: id, ...(p.includes("remember") ? { offers: offers() } : {}) }, run);
      const allowed = await held.answered;
      this.w.emit("tool.result", run.channel_id, run.run_id, { tool_use_id: id, output: allowed ? "" : "loop: denied: /home/ana/.gitconfig", is_error: !allowed });
      await this.stream(run, "text", allowed ? "Git remembers it now." : "I was not allowed to, so I leave it.");
      this.end(run, "done", { model: "claude-sonnet-4-5-20250929", num_turns: 2, ...used(0.004, 3) });
      return;
    }
    if (p.includes("hang")) {
      this.w.emit("agent.activity", run.channel_id, run.run_id, { activity: "thinking", description: "Thinking", model: "claude-sonnet-4-5-20250929" });
      await this.wait(run, 3_600_000);
    }
    if (p.includes("essay")) {
      for (let i = 1; i <= 30 || this.endless; i++) await this.stream(run, "text", `Paragraph ${i}. ${"The quick brown fox jumps over the lazy dog and keeps on running. ".repeat(5)}`);
      this.end(run, "done", { model: "claude-sonnet-4-5-20250929", num_turns: 30, ...used(0.21, 86) });
      return;
    }
    await this.stream(run, "thinking", "The person wants a small program. I will write it in Python, run it, and report what it printed.");
    const m = await this.stream(run, "text", "I'll write a small program that counts the words of a text, then run it.");
    void m;
    await this.tool(run, "Write", { file_path: `${dir}/words.py`, content: "import sys\n" }, `File created successfully at: ${dir}/words.py`, 90, {
      files: [{ path: `${dir}/words.py`, kind: "create", added: 6, removed: 0, patch: "@@ -0,0 +1,6 @@\n+import collections\n+import sys\n+\n+words = sys.stdin.read().lower().split()\n+for word, n in collections.Counter(words).most_common(3):\n+    print(f\"{n:4} {word}\")\n" }],
    });
    await this.tool(run, "Bash", { command: "echo 'to be or not to be' | python3 words.py", description: "Run the program" }, "   2 to\n   2 be\n   1 or\n", 420);
    await this.tool(run, "mcp__loop__send_message", { content: "The program works." }, "sent", 60);
    await this.stream(run, "text", "It works. The program counts words and prints the three most common:\n\n```python\nfor word, n in collections.Counter(words).most_common(3):\n    print(f\"{n:4} {word}\")\n```\n\nFor `to be or not to be` it printed **to** and **be** twice each, and *or* once. The file is `words.py`.");
    this.end(run, "done", { result: "It works.", model: "claude-sonnet-4-5-20250929", num_turns: 4, ...used(0.0184, 44), session_id: newID() });
  }

  /** Stops the channel's active run, so that the first of its queue begins. */
  interrupt(channel) {
    const active = [...this.w.runs.values()].find((r) => r.channel_id === channel && (r.state === "starting" || r.state === "running"));
    if (active) this.cancel(active.run_id);
    else this.drain(channel);
  }

  cancel(id) {
    this.timers.get(id)?.();
  }

  /** Stops everything: the page is gone. */
  leave() {
    this.held = true;
    this.building = false;
    for (const stop of this.timers.values()) stop();
  }

  async build() {
    const w = this.w;
    const steps = ["Pulling debian:bookworm-slim", "Installing git, ripgrep, curl, python3", "Installing Claude Code 2.1.197", "Checking the image"];
    this.building = true;
    const lines = [];
    for (let i = 0; i <= 40 && this.building; i++) {
      const step = steps[Math.min(3, Math.floor(i / 11))];
      lines.push(`#${i + 4} ${step.toLowerCase()} … ${(i * 1.7).toFixed(1)} s`);
      w.image = { state: "building", ref: "loop-agent:latest", step, progress: i / 40, lines: lines.slice(-40) };
      w.emit("image.build_status", "", "", w.image);
      // A test can hold the build in the middle, so that even a slow page sees it under way.
      const held = () => i === 20 && this.building && this.buildHeld;
      do {
        await new Promise((r) => setTimeout(r, 150 / this.speed));
      } while (held());
    }
    w.image = this.building ? { state: "ready", ref: "loop-agent:latest", id: "sha256:5f2c", lines: lines.slice(-40) } : { state: "missing", ref: "loop-agent:latest", lines: lines.slice(-40) };
    this.building = false;
    w.emit("image.build_status", "", "", w.image);
    return null;
  }
}
