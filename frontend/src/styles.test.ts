// Styles of one folder reach nothing of another, and none of them is left over. Every
// rule outside ui and styles names a class of its folder's own, or stands in a block
// “:where(.root)”, which limits it to what is inside that folder's root and adds no
// weight. (@scope would say the same; WebKitGTK knows it since 2.46 only, and CSS modules
// would take the class names from the flows.)
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { transform } from "lightningcss";
import { expect, it } from "vitest";

const SRC = new URL(".", import.meta.url).pathname;

function files(dir: string, ending: RegExp): string[] {
  return readdirSync(dir).flatMap((n) => {
    const p = join(dir, n);
    return statSync(p).isDirectory() ? files(p, ending) : ending.test(n) ? [p] : [];
  });
}

/** What the classes of each stylesheet begin with. */
const OWN: Record<string, string[]> = {
  "app/app.css": ["frame", "no-sidebar", "topbar", "brand", "crumb", "crumbs", "searchbox", "centre", "splitter", "trouble", "statusbar", "status"],
  "dock/dock.css": ["dock"],
  "features/channels/channels.css": ["sidebar", "channel"],
  "features/containers/containers.css": ["containers"],
  "features/folder/folder.css": ["folder", "folders"],
  "features/image/image.css": ["image", "build"],
  "features/leaving/leaving.css": ["leaving"],
  "features/palette/palette.css": ["palette", "shortcuts"],
  "features/sessions/sessions.css": ["sessions"],
  "features/settings/settings.css": ["settings"],
  "features/terminals/file.css": ["file"],
  "features/terminals/player.css": ["player"],
  "features/terminals/recordings.css": ["recordings"],
  "features/terminals/terminals.css": ["term", "paste", "player"],
  "features/timeline/prompt/prompt.css": ["timeline"],
  "features/timeline/question/question.css": ["timeline"],
  "features/timeline/timeline.css": ["timeline"],
  "features/welcome/welcome.css": ["welcome"],
};

type Sheet = { path: string; selectors: string[] };

/** Every selector of a stylesheet as a browser sees it, without nesting. */
function read(path: string): Sheet {
  const { code } = transform({ filename: path, code: readFileSync(path), targets: { safari: 15 << 16 }, minify: false });
  const text = code.toString().replace(/\/\*[^]*?\*\//g, "").replace(/@keyframes [^{]*\{(?:[^{}]*\{[^}]*\})*\s*\}/g, "");
  const heads = [...text.matchAll(/([^{};]+)\{/g)].map((m) => (m[1] ?? "").trim()).filter((h) => !h.startsWith("@"));
  return { path: relative(SRC, path), selectors: heads.flatMap((h) => h.split(/,(?![^(]*\))/)).map((s) => s.trim()) };
}

const sheets = files(SRC, /\.css$/).map(read);
const shared = /^(ui|styles)\//;
const classes = (selector: string) => [...selector.matchAll(/\.(-?[A-Za-z_][\w-]*)/g)].map((m) => m[1] ?? "");

it("every stylesheet says which classes are its own", () => {
  expect(Object.keys(OWN).sort()).toEqual(sheets.map((s) => s.path).filter((p) => !shared.test(p)).sort());
});

it.each(sheets.filter((s) => !shared.test(s.path)).map((s) => [s.path, s.selectors] as const))("%s styles its own folder only", (path, selectors) => {
  const own = OWN[path] ?? [];
  const mine = (c: string) => own.some((o) => c === o || c.startsWith(`${o}-`));
  const foreign = selectors.filter((s) => s !== ":root" && !classes(s).some(mine));
  expect(foreign).toEqual([]);
});

it("no two folders have a class of one name", () => {
  for (const [path, own] of Object.entries(OWN)) {
    for (const [other, theirs] of Object.entries(OWN)) {
      if (dirname(path).split("/").slice(0, 2).join() !== dirname(other).split("/").slice(0, 2).join()) expect(own.filter((o) => theirs.includes(o)), `${path} and ${other}`).toEqual([]);
    }
  }
});

// Of xterm.js and of the Markdown library.
const OTHERS = /^(xterm|task-list-item)/;

it("every class is used by the code", () => {
  const code = files(SRC, /\.tsx?$/).filter((f) => !/\.test\./.test(f)).map((f) => readFileSync(f, "utf8")).join("\n");
  const words = new Set(code.match(/[A-Za-z_][\w-]*/g));
  // Parts of a name that are put together, as in `s${n}`.
  const made = [...code.matchAll(/(?<![\w-])([a-z][a-z-]*)\$\{/g)].map((m) => m[1] ?? "");
  const dead = [...new Set(sheets.flatMap((s) => s.selectors.flatMap(classes)))].filter((c) => !words.has(c) && !OTHERS.test(c) && !made.some((m) => c.startsWith(m) && /^\d*$/.test(c.slice(m.length))));
  expect(dead).toEqual([]);
});
