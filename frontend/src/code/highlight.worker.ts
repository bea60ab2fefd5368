// The worker that colours code. It loads each grammar when it is first needed. It uses the
// engine in JavaScript, because a strict page policy may forbid WebAssembly.
import type { HighlighterCore, LanguageInput } from "shiki/core";
import { createCssVariablesTheme, createHighlighterCore } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";

const GRAMMARS: Record<string, () => Promise<{ default: LanguageInput }>> = {
  bash: () => import("shiki/langs/bash.mjs"), c: () => import("shiki/langs/c.mjs"), cpp: () => import("shiki/langs/cpp.mjs"), css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"), dockerfile: () => import("shiki/langs/dockerfile.mjs"), go: () => import("shiki/langs/go.mjs"), html: () => import("shiki/langs/html.mjs"),
  java: () => import("shiki/langs/java.mjs"), javascript: () => import("shiki/langs/javascript.mjs"), json: () => import("shiki/langs/json.mjs"), jsonc: () => import("shiki/langs/jsonc.mjs"),
  kotlin: () => import("shiki/langs/kotlin.mjs"), lua: () => import("shiki/langs/lua.mjs"), make: () => import("shiki/langs/make.mjs"), markdown: () => import("shiki/langs/markdown.mjs"),
  php: () => import("shiki/langs/php.mjs"), python: () => import("shiki/langs/python.mjs"), ruby: () => import("shiki/langs/ruby.mjs"), rust: () => import("shiki/langs/rust.mjs"),
  sql: () => import("shiki/langs/sql.mjs"), swift: () => import("shiki/langs/swift.mjs"), toml: () => import("shiki/langs/toml.mjs"), tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"), xml: () => import("shiki/langs/xml.mjs"), yaml: () => import("shiki/langs/yaml.mjs"),
};
const SAME: Record<string, string> = {
  sh: "bash", shell: "bash", zsh: "bash", console: "bash", "c++": "cpp", golang: "go", js: "javascript", jsx: "tsx", ts: "typescript", py: "python", python3: "python",
  rb: "ruby", rs: "rust", yml: "yaml", md: "markdown", makefile: "make", docker: "dockerfile", patch: "diff", kt: "kotlin", htm: "html", svg: "xml",
};

const theme = createCssVariablesTheme({ name: "loop", variablePrefix: "--shiki-", fontStyle: false });
let core: Promise<HighlighterCore> | null = null;
const loaded = new Set<string>();

async function tokens(code: string, lang: string) {
  const name = SAME[lang.toLowerCase()] ?? lang.toLowerCase();
  const grammar = GRAMMARS[name];
  if (!grammar) return null;
  core ??= createHighlighterCore({ themes: [theme], langs: [], engine: createJavaScriptRegexEngine({ forgiving: true }) });
  const h = await core;
  if (!loaded.has(name)) {
    await h.loadLanguage((await grammar()).default);
    loaded.add(name);
  }
  const { tokens: lines } = h.codeToTokens(code, { lang: name, theme: "loop" });
  return lines.map((line) => line.map((t) => ({ text: t.content, color: t.color ?? "" })));
}

self.addEventListener("message", (e: MessageEvent<{ id: number; code: string; lang: string }>) => {
  const { id, code, lang } = e.data;
  tokens(code, lang).then(
    (lines) => self.postMessage({ id, lines }),
    () => self.postMessage({ id, lines: null }),
  );
});
