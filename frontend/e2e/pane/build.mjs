// Builds the page of one terminal pane for tests, once per process.
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { build } from "vite";

// The folder belongs to this process: another one would empty it while pages load from it.
export const PANE = fileURLToPath(new URL(`../../node_modules/.tmp/pane-${process.pid}/`, import.meta.url));
process.on("exit", () => rmSync(PANE, { recursive: true, force: true }));

let built;
// Builds into PANE, or into the caller's folder.
export function buildPane(outDir = PANE) {
  built ??= build({
    configFile: false, root: fileURLToPath(new URL(".", import.meta.url)), base: "./", logLevel: "warn", plugins: [react()],
    build: { target: "chrome120", outDir, emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 2000 },
  });
  return built;
}
