// Mock of a review: files with hunks in memory, which are accepted, rejected and committed.
import { fail } from "./world.mjs";

const CI = { kind: "ci", word: "CI workflow", why: "runs with the secrets of your CI" };
const GIT = { kind: "git", word: "Git config", why: "changes what git runs on a commit" };

let made = 0;
function hunk(old, now, section, lines, more = {}) {
  const size = (signs) => lines.filter((l) => signs.includes(l[0])).length;
  return { id: `h${++made}`, staged: false, old, old_size: size(" -"), new: now, new_size: size(" +"), section, lines: lines.map((l) => `${l}\n`).join(""), ...more };
}

const added = (lines) => hunk(0, 1, "", lines.map((l) => `+${l}`));

/** The changes of the pictures. */
export function someChanges() {
  made = 0;
  return [
    { path: ".git/config", kind: "M", alarm: GIT, hunks: [hunk(8, 8, "", [" [core]", "+\thooksPath = .githooks", " \tbare = false"])] },
    { path: ".github/workflows/ci.yml", kind: "M", alarm: CI, hunks: [hunk(14, 14, "jobs:", [" \t- run: go vet ./...", "-\t- run: go test ./...", "+\t- run: go test ./... -race", "+\t  env:", "+\t    CGO_ENABLED: 1"])] },
    { path: "configs/limits.yaml", kind: "M", hunks: [hunk(3, 3, "", [" limits:", "-  login: 10", "-  burst: 10", "+  login: 5", "+  burst: 5", "+  every: 12s", "+  answer: 429"], { staged: true })] },
    {
      path: "internal/auth/login.go", kind: "M", hunks: [
        hunk(3, 3, "import", [" import (", " \t\"net/http\"", "+\t\"strconv\"", "+", "+\t\"api-server/internal/limit\"", " )"], { staged: true }),
        hunk(36, 38, "func (h *Handler) Login(w http.ResponseWriter, r *http.Request) {", [
          " \tuser := r.FormValue(\"user\")", "-\tif h.blocked[user] {", "-\t\thttp.Error(w, \"blocked\", 403)", "+\twait, ok := h.limits.Take(user, 5)", "+\tif !ok {", "+\t\tsec := strconv.Itoa(wait)",
          "+\t\tw.Header().Set(\"Retry-After\", sec)", "+\t\thttp.Error(w, \"too many tries\", 429)", " \t\treturn", " \t}",
        ]),
        hunk(70, 75, "func New", ["-func New(db *DB) *Handler {", "-\treturn &Handler{db: db}", "+func New(db *DB, l *limit.Set) *Handler {", "+\treturn &Handler{db: db, limits: l}", " }"]),
      ],
    },
    { path: "internal/limit/bucket.go", kind: "A", untracked: true, hunks: [added(["package limit", "", "// Set holds a bucket for each account.", "type Set struct{ all map[string]*bucket }"])] },
    { path: "logo.png", kind: "M", whole: "binary", bytes: 4200, before: 3900, hunks: [hunk(0, 0, "binary file", [])] },
  ];
}

export class Reviews {
  state = "none";
  branch = "feat/rate-limits";
  base = "";
  files = [];
  failNext = null; // what the next act answers
  acts = []; // what was done, in order
  undone = new Map();
  doubt = null; // why it is not known whether a rejection was done
  run = { files: [] }; // what every run changed; a failure is what the scope answers

  status(scope) {
    if (scope.kind === "run") {
      const { files = [], until = "end", editable = true, detail, failure } = this.run;
      if (failure) throw failure;
      const named = new Map(this.status({ kind: "worktree" }).files.map((f) => [f.path, f]));
      return { state: "none", branch: this.branch, editable, run: scope.from || "last", until, detail, files: files.map((f) => ({ added: 3, removed: 1, staged: 0, unstaged: 0, kind: "M", ...named.get(f.path), ...f })), more: false, odd: 0 };
    }
    const lines = (f, sign) => (f.whole ? -1 : f.hunks.flatMap((h) => h.lines.split("\n")).filter((l) => l[0] === sign).length);
    const files = this.files.map((f) => ({
      path: f.path, kind: f.kind, untracked: f.untracked, alarm: f.alarm, added: lines(f, "+"), removed: lines(f, "-"),
      staged: f.hunks.filter((h) => h.staged).length, unstaged: f.hunks.filter((h) => !h.staged).length,
    }));
    if (this.state === "no-repository") return { state: this.state, branch: "", editable: true, detail: "“/home/ana/src/api-server” is no git repository. Run “git init” there in a terminal.", files: [], more: false, odd: 0 };
    return { state: this.state, branch: this.branch, base: this.base || undefined, editable: scope.kind === "worktree", files, more: false, odd: 0 };
  }

  file(path, scope) {
    const of = scope.kind === "run" ? this.run.files.find((x) => x.path === path && x.since) : null;
    if (of) return { path, since: of.since, hunks: [hunk(1, 1, "", [" package main", "-old", "+new"])], bytes: 900, before: 800, mark: "" };
    const f = this.files.find((x) => x.path === path);
    return { path, hunks: f?.hunks ?? [], whole: f?.whole, bytes: f?.bytes ?? 900, before: f?.before ?? 800, mark: `m-${path}` };
  }

  act(what, path, names, f) {
    if (this.failNext) {
      const failure = this.failNext;
      this.failNext = null;
      throw failure;
    }
    this.acts.push([what, path, ...(names ?? [])]);
    const file = this.files.find((x) => x.path === path);
    const hunks = (file?.hunks ?? []).filter((h) => !names?.length || names.includes(h.id));
    if (file && hunks.length === 0) throw fail("conflict", "The file has changed since you looked at it. Nothing was staged.", "Look at it again, then decide once more.");
    const answer = f(file, hunks) ?? null;
    this.files = this.files.filter((x) => x.hunks.length > 0);
    return answer;
  }

  calls() {
    return {
      "Review.Status": (id, scope) => this.status(scope),
      "Review.File": (id, scope, path) => this.file(path, scope),
      "Review.Stage": (id, path, hunks) => this.act("stage", path, hunks, (file, some) => {
        if (path.startsWith(".git/")) file.hunks = [];
        else file.hunks = file.hunks.map((h) => (some.includes(h) ? { ...h, staged: true } : h));
      }),
      "Review.Unstage": (id, path, hunks) => this.act("unstage", path, hunks, (file, some) => { file.hunks = file.hunks.map((h) => (some.includes(h) ? { ...h, staged: false } : h)); }),
      "Review.Reject": (id, path, hunks) => this.act("reject", path, hunks, (file, some) => {
        const undo = `u${this.undone.size + 1}`;
        this.undone.set(undo, { file, files: this.files, hunks: file.hunks });
        file.hunks = file.hunks.filter((h) => !some.includes(h));
        return { id: undo, ...(this.doubt && { doubt: this.doubt }) };
      }),
      "Review.Undo": (id, undo) => this.act("undo", "", [undo], () => {
        const was = this.undone.get(undo);
        was.file.hunks = was.hunks;
        this.files = was.files;
      }),
      "Review.Commit": (id, message) => this.act("commit", "", [message], () => {
        for (const f of this.files) f.hunks = f.hunks.filter((h) => !h.staged);
        return { id: "1a2b3c4" };
      }),
      "Review.Branch": (id, name) => this.act("branch", "", [name], () => { this.branch = name; }),
      "Review.Proceed": (id, abort) => this.act("proceed", "", [String(abort)], () => { this.state = "none"; }),
    };
  }
}
