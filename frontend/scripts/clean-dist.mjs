// Empties dist/ but keeps the committed placeholder: the Go program embeds the folder, and needs a file in it.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
mkdirSync(dist, { recursive: true });
for (const name of readdirSync(dist)) {
  if (name !== "placeholder.txt") rmSync(dist + name, { recursive: true, force: true });
}
