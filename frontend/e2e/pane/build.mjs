// Builds the page of one pane for tests, once per run.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { build } from "vite";

// Of this process alone: another run would empty it under the feet of its pages.
export const PANE = fileURLToPath(new URL(`../../node_modules/.tmp/pane-${process.pid}/`, import.meta.url));
process.on("exit", () => rmSync(PANE, { recursive: true, force: true }));

let built;
// Into PANE, or into a directory of the caller's.
export function buildPane(outDir = PANE) {
  built ??= build({
    configFile: false, root: fileURLToPath(new URL(".", import.meta.url)), base: "./", logLevel: "warn", plugins: [react()],
    build: { target: "chrome120", outDir, emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 2000 },
  });
  return built;
}
