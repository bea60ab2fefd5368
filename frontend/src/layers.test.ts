// The layers of the page, as a test: imports go down, never sideways.
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

function imports(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((m) => m[1] ?? "");
}

function layer(path: string, target: string): string {
  return target.startsWith(".") ? (relative(SRC, join(SRC, path, "..", target)).split("/")[0] ?? "") : target;
}

const MAY: Record<string, string[]> = {
  api: ["api"],
  model: ["api", "model", "zustand/vanilla"],
  shell: ["api", "shell"],
  ui: ["api", "model", "shell", "ui", "react", "radix-ui", "lucide-react"],
};

it.each(Object.entries(MAY))("%s imports only what it may", (name, may) => {
  for (const f of all.filter((x) => x.path.startsWith(`${name}/`))) {
    for (const i of imports(f.text)) expect(may, `${f.path} imports ${i}`).toContain(layer(f.path, i));
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
