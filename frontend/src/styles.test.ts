// Tests that the styles of one folder do not reach another, and that none is unused. Every
// rule outside ui and styles names a class of its own folder, or stands in a block
// “:where(.root)”. The block limits it to that folder's root and adds no weight. (@scope
// would do the same, but WebKitGTK has it only since 2.46. CSS modules would change the
// class names that the flows use.)
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { transform } from "lightningcss";
import { expect, it } from "vitest";

const SRC = new URL(".", import.meta.url).pathname;

function files(dir: string, ending: RegExp): string[] {
  return readdirSync(dir).flatMap((n) => {
    const p = join(dir, n);
    return statSync(p).isDirectory() ? files(p, ending) : ending.test(n) ? [p] : [];
  });
}

/** The first parts of a stylesheet's classes, where they are not the name of its file or folder. */
const OTHER: Record<string, string[]> = {
  "app/app.css": ["frame", "no-sidebar", "topbar", "brand", "crumb", "crumbs", "searchbox", "centre", "splitter", "trouble", "statusbar", "status"],
  "features/channels/channels.css": ["sidebar", "channel"],
  "features/folder/folder.css": ["folders"],
  "features/image/image.css": ["build"],
  "features/palette/palette.css": ["shortcuts"],
  "features/terminals/terminals.css": ["term", "paste", "player"],
};

function own(path: string): string[] {
  const [folder, name] = path.split("/").slice(-2);
  const feature = /^features\/([^/]+)/.exec(path)?.[1];
  return [...new Set([feature ?? folder ?? "", (name ?? "").replace(/\.css$/, ""), ...(OTHER[path] ?? [])])];
}

type Sheet = { path: string; selectors: string[] };

/** Reads every selector of a stylesheet as a browser sees it, without nesting. */
function read(path: string): Sheet {
  const { code } = transform({ filename: path, code: readFileSync(path), targets: { safari: 15 << 16 }, minify: false });
  const text = code.toString().replace(/\/\*[^]*?\*\//g, "").replace(/@keyframes [^{]*\{(?:[^{}]*\{[^}]*\})*\s*\}/g, "");
  const heads = [...text.matchAll(/([^{};]+)\{/g)].map((m) => (m[1] ?? "").trim()).filter((h) => !h.startsWith("@"));
  return { path: relative(SRC, path), selectors: heads.flatMap((h) => h.split(/,(?![^(]*\))/)).map((s) => s.trim()) };
}

const sheets = files(SRC, /\.css$/).map(read);
const shared = /^(ui|styles)\//;
const classes = (selector: string) => [...selector.matchAll(/\.(-?[A-Za-z_][\w-]*)/g)].map((m) => m[1] ?? "");

it.each(sheets.filter((s) => !shared.test(s.path)).map((s) => [s.path, s.selectors] as const))("%s styles its own folder only", (path, selectors) => {
  const words = own(path);
  const mine = (c: string) => words.some((o) => c === o || c.startsWith(`${o}-`));
  const foreign = selectors.filter((s) => s !== ":root" && !classes(s).some(mine));
  expect(foreign).toEqual([]);
});

it("no two folders have a class of one name", () => {
  const folder = (path: string) => path.split("/").slice(0, -1).slice(0, 2).join("/");
  const all = sheets.filter((s) => !shared.test(s.path)).flatMap((s) => own(s.path).map((word) => ({ word, in: folder(s.path) })));
  for (const a of all) expect(all.filter((b) => b.word === a.word && b.in !== a.in), a.word).toEqual([]);
});

// Classes of xterm.js and of the Markdown library.
const OTHERS = /^(xterm|task-list-item)/;

it("every class is used by the code", () => {
  const code = files(SRC, /\.tsx?$/).filter((f) => !/\.test\./.test(f)).map((f) => readFileSync(f, "utf8")).join("\n");
  const words = new Set(code.match(/[A-Za-z_][\w-]*/g));
  // The beginnings of names that code puts together, as in `s${n}`.
  const made = [...code.matchAll(/(?<![\w-])([a-z][a-z-]*)\$\{/g)].map((m) => m[1] ?? "");
  const dead = [...new Set(sheets.flatMap((s) => s.selectors.flatMap(classes)))].filter((c) => !words.has(c) && !OTHERS.test(c) && !made.some((m) => c.startsWith(m) && /^\d*$/.test(c.slice(m.length))));
  expect(dead).toEqual([]);
});
