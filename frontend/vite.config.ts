/// <reference types="vitest/config" />
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// base is "./" because the same files are served from wails://wails/ and from a loopback
// address. emptyOutDir is off because dist/placeholder.txt is committed for the Go program,
// which embeds the folder. scripts/clean-dist.mjs removes the rest.
export default defineConfig({
  base: "./",
  plugins: [react()],
  build: {
    target: ["safari17", "chrome120"],
    emptyOutDir: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      output: {
        // Without these groups, what several parts share would be a hundred files of one icon or one module each.
        codeSplitting: {
          groups: [
            { name: "icons", test: /node_modules\/lucide-react/ },
            { name: "shared", test: /\/src\/(api|model|shell|ui|dock|session)\//, minShareCount: 2 },
          ],
        },
      },
    },
  },
  worker: { format: "es" },
  test: { testTimeout: 120_000, hookTimeout: 120_000, teardownTimeout: 120_000 }, // a loaded machine may stand still for seconds
});
