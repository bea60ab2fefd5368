// Payloads come from stored rows of any version and, inside, from agents: what
// has the wrong shape is shown as text instead of breaking the page.
import type { FileChange, ToolResult } from "../../api/types";

export function text(v: unknown): string {
  if (typeof v === "string") return v;
  if (v === null || v === undefined) return "";
  try {
    return JSON.stringify(v) ?? "";
  } catch {
    return String(v);
  }
}

function count(v: unknown): number {
  return typeof v === "number" && Number.isFinite(v) ? v : 0;
}

export function toolResult(r: ToolResult): ToolResult {
  const files: unknown[] = Array.isArray(r.files) ? r.files : [];
  return {
    tool_use_id: text(r.tool_use_id), parent_tool_use_id: text(r.parent_tool_use_id), output: text(r.output), is_error: r.is_error === true, truncated: r.truncated === true,
    files: files.filter((f): f is FileChange => typeof f === "object" && f !== null)
      .map((f) => ({ path: text(f.path), kind: text(f.kind), added: count(f.added), removed: count(f.removed), patch: text(f.patch) })),
  };
}
