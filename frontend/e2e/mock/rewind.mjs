// Mock of the way back to before a prompt.
import { fail, newID } from "./world.mjs";

const PATCHES = {
  "internal/auth/reset.go": "--- now\n+++ then\n@@ -3,4 +3,3 @@\n package auth\n-var tries = bucket(3)\n-var perHour = 1\n+var tries = 3\n \n",
  "configs/limits.yaml": "--- now\n+++ then\n@@ -9,8 +9,4 @@\n login:\n   per_account: 5\n-  refill: 10s\n+  refill: 12s\n-reset:\n-  per_account: 3\n-  refill: 20m\n-  log_refused: true\n export:\n",
  "internal/auth/reset_test.go": "--- now\n+++ then\n@@ -1,2 +0,0 @@\n-package auth\n-// 34 lines\n",
  "docs/old-limits.md": "--- now\n+++ then\n@@ -0,0 +1,1 @@\n+Old limits\n",
};

export class Rewinds {
  constructor(world) {
    this.w = world;
    this.more = {}; // what a preview says otherwise
    this.refuse = null;
    this.went = new Map();
  }

  preview(run) {
    const r = this.w.runs.get(run);
    const prompt = r?.prompt ?? "Find out why and fix it.";
    const at = Date.parse(r?.created_at ?? 0) || Date.now();
    const own = at + 10 * 60_000;
    return {
      run_id: run, prompt, prompt_ms: at, mark: "m1", total: 4, no_files: "", left: [], head: "b81d09e", kept_for: 30,
      files: [
        { path: "internal/auth/reset.go", back: "changed", added: 3, removed: 27, bytes: 10 },
        { path: "configs/limits.yaml", back: "changed", added: 1, removed: 5, bytes: 10, own_ms: own, merges: true },
        { path: "internal/auth/reset_test.go", back: "removed", added: 0, removed: 34, bytes: 0 },
        { path: "docs/old-limits.md", back: "comes", added: 18, removed: 0, bytes: 18 },
      ],
      // oxlint-disable-next-line unicorn/no-thenable -- the field's name in Loop's answer
      talk: { fresh: false, prompts: 2, turns: 23, took_ms: 41 * 60_000, cost_usd: 0.54, leaves: [run], context: { used_tokens: 122_000, window_tokens: 200_000 }, then: { used_tokens: 82_000, window_tokens: 200_000 } },
      ...this.more,
    };
  }

  calls() {
    return {
      "Rewind.Preview": (run) => this.preview(run),
      "Rewind.Diff": (_run, path) => ({ patch: PATCHES[path] ?? "", own: path.endsWith(".yaml") ? [11] : [], why: PATCHES[path] ? "" : "It is no text, or too long to be compared." }),
      "Rewind.Back": (run, req) => {
        if (this.refuse) throw fail(...this.refuse);
        const p = this.preview(run);
        const r = { id: newID(), run_id: run, prompt: p.prompt, prompt_ms: p.prompt_ms, what: req.what, state: "done", files: p.files.length - req.keep.length, leaves: p.talk.leaves };
        const channel = this.w.runs.get(run)?.channel_id;
        this.went.set(r.id, { r, channel });
        this.w.emit("rewind.went", channel, run, r);
        const { plan, attachments, model, effort } = this.w.runs.get(run) ?? {};
        return { ...r, text: p.prompt, plan, attachments, model, effort, notices: [] };
      },
      "Rewind.Undo": (id) => {
        const { r, channel } = this.went.get(id);
        const undone = { ...r, state: "undone" };
        this.w.emit("rewind.undone", channel, r.run_id, undone);
        return { ...undone, text: "", notices: [] };
      },
    };
  }
}
