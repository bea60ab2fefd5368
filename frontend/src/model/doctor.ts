// The doctor's checks as text for a bug report. It has no key in it: Loop never sends one to the page.
import type { DoctorCheck } from "../api/types";
import type { FrameState } from "./frame";
import { gateFace } from "./gate";
import { fineDuration } from "./format";

const WORD = { ok: "ok", warn: "warning", fail: "FAILED", skip: "not tried" };

export function reportText(f: FrameState, checks: DoctorCheck[]): string {
  const lines = [`Loop ${f.version || "(version unknown)"}, ${f.mode}`];
  if (f.engine) lines.push(f.engine.ok ? `Engine: ${f.engine.name} ${f.engine.version}, API ${f.engine.api_version}, ${f.engine.os}/${f.engine.arch}, ${f.engine.host}` : `Engine: ${f.engine.failure?.cause ?? "no answer"}`);
  if (f.image) lines.push(`Agent image: ${f.image.state}${f.image.note ? ` (${f.image.note})` : ""}`);
  lines.push(`${gateFace(f.gate).text}${f.gate?.why ? `: ${f.gate.why}` : ""}`, `Credentials: ${f.config?.has_credentials ? (f.config.credential_kind ?? "set") : "none"}`, "");
  for (const c of checks) {
    lines.push(`[${WORD[c.state] ?? c.state}] ${c.title}: ${c.summary}${c.duration_ms ? ` (${fineDuration(c.duration_ms)})` : ""}`);
    if (c.remedy && c.state !== "ok") lines.push(`    ${c.remedy}`);
    if (c.detail && c.state !== "ok") lines.push(...c.detail.split("\n").map((l) => `    | ${l}`));
  }
  return lines.join("\n");
}
