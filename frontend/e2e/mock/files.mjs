// Mock of the files of a container: a small tree in memory, and the copy of an agent beside
// its original.
import { createHash } from "node:crypto";
import { fail } from "./world.mjs";

const DAY = 86_400_000;
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAFElEQVR4nGNkYPhfz8DAwMAIIwEAKf4D/0Sh8mIAAAAASUVORK5CYII=";

const LOGIN = ["func (s *Store) Touch(id string) error {", "\ts.mu.Lock()", "\tdefer s.mu.Unlock()", "\tsess, ok := s.byID[id]", "\tif !ok {", "\t\treturn ErrNoSession", "\t}"];

/** Differences of every kind, for a test. */
export function someDifferences(now) {
  const d = (path, state, original, copy, texts) => ({ path, state, original_bytes: original, copy_bytes: copy, mark: `m-${path}`, ...(original >= 0 ? { original_ms: now - 18_000_000 } : {}), ...(copy >= 0 ? { copy_ms: now - 600_000 } : {}), texts });
  const both = { original: `${LOGIN.join("\n")}\n`, copy: `${LOGIN.with(1, "\ts.mu.RLock()").with(2, "\tdefer s.mu.RUnlock()").join("\n")}\n` };
  return [
    d("cmd/api/main.go", "changed", 4200, 4400, both), d("internal/auth/limiter.go", "new", -1, 2250, { original: "", copy: "package auth\n" }), d("internal/auth/session.go", "both", 3480, 3270, both),
    d("internal/auth/tokens.go", "original-changed", 2970, 2760, both), d("internal/db/migrate.go", "removed", 1940, -1, { original: "package db\n", copy: "" }), d("scripts/seed-users.sh", "original-new", 612, -1, { original: "echo\n", copy: "" }), d("go.mod", "changed", 1120, 1220, both),
  ];
}

const GO = `package main

import (
\t"fmt"
\t"net/http"
)

// main serves until it is told to stop.
func main() {
\thttp.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
\t\tfmt.Fprintf(w, "hello, %s", r.URL.Path)
\t})
\tif err := http.ListenAndServe(":8080", nil); err != nil {
\t\tpanic(err)
\t}
}
`;

export class Files {
  constructor(world) {
    this.w = world;
    this.reads = [];
    this.attached = new Set();
    this.pictures = new Map(); // of tools: base64 by id
    this.down = null; // a failure that every call answers
    this.tree = {
      "": ["bin", "etc", "home", "tmp"], etc: ["os-release"], "etc/os-release": "PRETTY_NAME=\"Debian GNU/Linux 12\"\n",
      "home/ana/src/api-server": ["cmd", "docs", "empty", "Makefile", "README.md", "notes\u202egnp.exe", "logo.png", "latest", "pipe", "server10.go", "server9.go", ".loop"],
      "home/ana/src/api-server/cmd": ["main.go"], "home/ana/src/api-server/cmd/main.go": GO, "home/ana/src/api-server/docs": ["design.md"],
      "home/ana/src/api-server/docs/design.md": "# Design\n\nOne binary, one port.\n", "home/ana/src/api-server/empty": [], "home/ana/src/api-server/Makefile": "test:\n\tgo test ./...\n",
      "home/ana/src/api-server/README.md": "# api-server\n\nServes **requests**.\n", "home/ana/src/api-server/notes\u202egnp.exe": "hidden\u202etxt\n",
      "home/ana/src/api-server/logo.png": { data: PNG }, "home/ana/src/api-server/latest": { link: "cmd" }, "home/ana/src/api-server/pipe": { other: true },
      "home/ana/src/api-server/server10.go": GO, "home/ana/src/api-server/server9.go": GO, "home/ana/src/api-server/.loop": ["config.json"],
      "home/ana/src/api-server/.loop/config.json": "{}\n", home: ["ana"], "home/ana": ["src"], "home/ana/src": ["api-server"], tmp: [], bin: [],
    };
  }

  editor = "code"; // the person's; nvim wants a terminal

  /** What a prompt can begin with after a slash. */
  commands = {
    commands: [
      { name: "compact", hint: "[focus]", description: "Sum up the conversation, to free context", source: "claude" }, { name: "init", description: "Write a CLAUDE.md for this project", source: "claude" },
      { name: "review", description: "Look over the changes of this branch", source: "claude" }, { name: "migration", hint: "<name>", description: "Make a migration and its way back", source: "project" },
      { name: "release-notes", description: "Write notes from merged changes", source: "project" }, { name: "ticket", description: "Turn this thread into a ticket\u202e", source: "person" },
    ],
  };

  /** What differs between a copy and its original; null: the channel's agents work in the folder itself. */
  copies = null;
  trash = [];
  left = [];
  brought = []; // [way, paths]

  compare() {
    if (!this.copies) throw fail("not_found", "This channel's agents work in the folder itself, not in a copy.", "workspace_access “none” gives them a copy.");
    return { original: "/home/ana/src/api-server", copy: "/home/ana/.loop/channels/dev/copy", differences: this.copies.map((d) => ({ ...d, texts: undefined })), left: [{ text: "copy: data.bin", reason: "It is larger than 8 MiB." }] };
  }

  bring(way, marks) {
    for (const [path, mark] of Object.entries(marks)) {
      if (this.copies.find((d) => d.path === path)?.mark !== mark) throw fail("conflict", `“${path}” has changed since it was compared.`, "Compare again, look at it, then try once more.");
    }
    this.brought.push([way, Object.keys(marks)]);
    return this.thrown(way, this.copies.filter((d) => d.path in marks), () => (this.copies = this.copies.filter((d) => !(d.path in marks))));
  }

  thrown(what, gone, take) {
    const before = this.copies;
    take();
    const t = { id: `t${this.trash.length + 1}`, what, place: "/home/ana/src/api-server", files: gone.length, bytes: 2048, at: new Date(this.w.now()).toISOString() };
    this.trash.unshift({ ...t, before });
    return t;
  }

  at(id, path) {
    if (this.down) throw this.down;
    const ch = this.w.channels.get(id);
    let p = (path === "" ? ch.dir : path.startsWith("/") ? path : `${ch.dir}/${path}`).replace(/\/+$/, "").slice(1);
    p = p.replace(/^(home\/ana\/src\/api-server)\/latest(?=$|\/)/, "$1/cmd");
    const node = this.tree[p];
    if (node === undefined) throw fail("not_found", `“/${p}” is not there.`, "It may have been moved, or be meant from another folder.");
    return { path: `/${p}`, node, ...(p.startsWith("home/ana/src/") ? { host_path: `/${p}` } : {}), ...(p.includes("/.loop") ? { read_only: true } : {}) };
  }

  file(dir, name) {
    const node = this.tree[`${dir}/${name}`.replace(/^\//, "")];
    const kind = Array.isArray(node) ? "folder" : typeof node === "string" || node?.data ? "file" : node?.link ? "link" : "other";
    return { name, kind, bytes: typeof node === "string" ? node.length : kind === "file" ? 4200 : 0, modified_ms: this.w.now() - (name.length % 3) * DAY, ...(kind === "link" ? { link: node.link } : {}) };
  }

  calls() {
    return {
      "Workspaces.Compare": () => this.compare(),
      "Workspaces.Texts": (id, path) => this.copies.find((d) => d.path === path)?.texts ?? { original: "", copy: "" },
      "Workspaces.Promote": (id, marks) => this.bring("promote", marks),
      "Workspaces.Pull": (id, marks) => this.bring("pull", marks),
      "Workspaces.Anew": () => this.thrown("copy", this.copies, () => (this.copies = [])),
      "Workspaces.Discard": (folder) => this.thrown("copy", [], () => (this.left = this.left.filter((l) => l.copy !== folder))),
      "Workspaces.Left": () => this.left,
      "Workspaces.Trash": () => this.trash.map((t) => ({ ...t, before: undefined })),
      "Workspaces.Restore": (tid) => { const t = this.trash.find((x) => x.id === tid); this.copies = t.before; this.trash = this.trash.filter((x) => x !== t); return t; },
      "Files.Attach": (id, name, data) => {
        if (this.w.noPicture) throw fail("invalid_input", "This is no picture that the model takes.", "Attach a PNG, JPEG, GIF or WebP. Other files go into the prompt by “@”.");
        const a = { id: createHash("sha256").update(data).digest("hex"), name, type: "image/png", bytes: atob(data).length, width: 2, height: 2 };
        this.attached.add(a.id);
        return a;
      },
      "Files.Detach": () => null,
      "Files.Attachment": (id, which) => {
        if (this.pictures.has(which)) return this.pictures.get(which);
        if (!this.attached.has(which)) throw fail("not_found", "A picture of the prompt is not there any more.", "Attach it again.");
        return PNG;
      },
      "Files.List": (id, path) => {
        const { node, ...place } = this.at(id, path);
        if (!Array.isArray(node)) throw fail("invalid_input", `“${place.path}” is no folder, or goes on below a file.`, "List the folder above it to see what is there.");
        return { ...place, files: node.map((n) => this.file(place.path.slice(1), n)) };
      },
      "Files.Edit": (id, path) => {
        const at = this.at(id, path);
        if (!at.host_path) throw fail("not_found", "The file is in the container alone.", "Look at it here, or open it in a terminal of the container.");
        return { name: this.editor, cmd: this.editor === "nvim" ? ["/usr/bin/nvim", at.path] : [], dir: "/home/ana" };
      },
      "Files.Commands": () => this.commands,
      "Files.Find": (id, query, limit, recent) => {
        if (this.down) throw this.down;
        const root = "home/ana/src/api-server";
        const all = Object.keys(this.tree).filter((k) => k.startsWith(`${root}/`)).map((k) => k.slice(root.length + 1) + (Array.isArray(this.tree[k]) ? "/" : ""));
        const files = all.map((path) => ({ path, at: path.toLowerCase().indexOf(query.toLowerCase()) })).filter((f) => f.at >= 0 && !(f.path === query && query.endsWith("/")))
          .map((f) => ({ path: f.path, marks: Array.from({ length: query.length }, (_, i) => f.at + i), files: f.path.endsWith("/") ? all.filter((p) => p.startsWith(f.path) && !p.endsWith("/")).length : 0 }))
          .map((f) => (recent.includes(f.path) ? { ...f, recent: true } : f)).sort((a, b) => Number(b.recent ?? 0) - Number(a.recent ?? 0));
        return { files: files.slice(0, limit), total: files.length, known: all.length, ignored: 3, partial: false };
      },
      "Files.Read": (id, path, most) => {
        this.reads.push(path);
        const { node, ...place } = this.at(id, path);
        const name = place.path.split("/").at(-1);
        if (typeof node !== "string" && !node.data) throw fail("invalid_input", `“${place.path}” is no ordinary file.`, "Look at it in a terminal.");
        const data = node.data ? Buffer.from(node.data, "base64") : Buffer.from(node, "utf8");
        return { ...place, ...this.file(place.path.slice(1, -name.length - 1), name), bytes: data.length, data: data.subarray(0, most).toString("base64"), whole: data.length <= most, mark: "m" };
      },
    };
  }
}
