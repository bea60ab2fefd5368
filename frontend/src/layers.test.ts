// Tests the layers of the page: imports go down, never sideways.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, it } from "vitest";

const SRC = new URL(".", import.meta.url).pathname;
const MAX_LINES = 300;

function files(dir: string): string[] {
  return readdirSync(dir).flatMap((n) => {
    const p = join(dir, n);
    return statSync(p).isDirectory() ? files(p) : /\.(ts|tsx)$/.test(n) ? [p] : [];
  });
}

const all = files(SRC).filter((f) => !/\.test\.tsx?$/.test(f)).map((f) => ({ path: relative(SRC, f), text: readFileSync(f, "utf8") }));
const paths = new Set(all.map((f) => f.path));

function imports(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((m) => m[1] ?? "");
}

function layer(path: string, target: string): string {
  const whole = target.replace(/^shiki\/.*/, "shiki"); // which has a path for each language
  return target.startsWith(".") ? (relative(SRC, join(SRC, path, "..", target)).split("/")[0] ?? "") : whole;
}

/** The imports that each layer may have. Lower layers come first. */
const MAY: Record<string, string[]> = {
  api: ["api"],
  model: ["api", "model", "zustand/vanilla", "diff"],
  shell: ["api", "shell"],
  // Colours for code, in a worker.
  code: ["code", "shiki"],
  ui: ["api", "model", "shell", "code", "ui", "react", "radix-ui", "lucide-react"],
  // Panels in general. Their content comes from their kind (dock/panels.ts).
  dock: ["api", "model", "shell", "ui", "dock", "react", "radix-ui", "lucide-react", "zustand", "zustand/vanilla"],
  // Loop's data, and the actions that a person can take from anywhere.
  session: ["api", "model", "shell", "ui", "dock", "session", "react"],
};

it.each(Object.entries(MAY))("%s imports only what it may", (name, may) => {
  for (const f of all.filter((x) => x.path.startsWith(`${name}/`))) {
    for (const i of imports(f.text)) expect(may, `${f.path} imports ${i}`).toContain(layer(f.path, i));
  }
});

const feature = (path: string) => /^features\/[^/]+/.exec(path)?.[0];

it("features import neither the app nor each other", () => {
  for (const f of all.filter((x) => feature(x.path))) {
    for (const i of imports(f.text).filter((x) => x.startsWith("."))) {
      const to = relative(SRC, join(SRC, f.path, "..", i));
      expect([undefined, feature(f.path)], `${f.path} imports ${i}`).toContain(feature(to));
      expect(to.split("/")[0], `${f.path} imports ${i}`).not.toBe("app");
    }
  }
});

it("no module imports itself through others", () => {
  const graph = new Map(all.map((f) => [f.path, imports(f.text).filter((i) => i.startsWith(".")).flatMap((i) => {
    const to = relative(SRC, join(SRC, f.path, "..", i));
    return [to, `${to}.ts`, `${to}.tsx`].filter((p) => paths.has(p));
  })]));
  const done = new Set<string>();
  const visit = (path: string, above: string[]) => {
    expect(above, `${[...above, path].join(" imports ")}`).not.toContain(path);
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...above, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  expect(done.size).toBe(all.length);
});

it("names a kind of panel only where it is made", () => {
  for (const f of all) {
    if (!f.path.startsWith("model/") && !f.path.startsWith("features/t")) expect(f.text, f.path).not.toMatch(/kind\??\s*[=!]==\s*"(terminal|timeline)"/);
  }
});

it("only shell knows window.go and the runtime", () => {
  for (const f of all) if (!f.path.startsWith("shell/")) expect(f.text, f.path).not.toMatch(/window\.(go|runtime)|wailsjs/);
});

it("has no barrel files and no component over 300 lines", () => {
  for (const f of all) {
    expect(f.path).not.toMatch(/(^|\/)index\.tsx?$/);
    if (!f.path.endsWith(".gen.ts")) expect(f.text.split("\n").length, f.path).toBeLessThanOrEqual(MAX_LINES);
  }
});

it("never sets HTML from text", () => {
  for (const f of all) expect(f.text, f.path).not.toMatch(/dangerouslySetInnerHTML|innerHTML|"rehype-raw"|\beval\(|new Function/);
});
