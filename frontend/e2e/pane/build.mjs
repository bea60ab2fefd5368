// Builds the page of one pane for tests, once per run.
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { build } from "vite";

export const PANE = fileURLToPath(new URL("../../node_modules/.tmp/pane/", import.meta.url));

let built;
export function buildPane() {
  built ??= build({
    configFile: false, root: fileURLToPath(new URL(".", import.meta.url)), base: "./", logLevel: "warn", plugins: [react()],
    build: { target: "chrome120", outDir: PANE, emptyOutDir: true, assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 2000 },
  });
  return built;
}
