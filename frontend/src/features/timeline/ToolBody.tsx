import { useMemo } from "react";
import { safeJSON } from "../../api/failure";
import type { ToolResult } from "../../api/types";
import { changesOf } from "../../model/change";
import { relativeTo } from "../../model/text";
import type { ToolItem } from "../../model/timeline/items";
import { SafeText } from "../../ui/SafeText";
import { withoutExit } from "../../model/timeline/output";
import { withoutPictures } from "../../model/timeline/tools";
import { readLines } from "../../model/timeline/readlines";
import { FileDiff } from "./FileDiff";
import { Output } from "./Output";
import { ReadFile } from "./ReadFile";
import { ToolPictures } from "./ToolPictures";

/** The input and the result of one tool call. */
export function ToolBody({ item, dir }: { item: ToolItem; dir: string }) {
  const changes = useMemo(() => changesOf(item.name, item.input, item.result?.files ?? []), [item]);
  const showsFiles = changes.length > 0;
  return (
    <div className="body">
      {!showsFiles && <Input item={item} />}
      {changes.map((c, i) => (
        <FileDiff key={i} change={c} path={relativeTo(c.path, dir)} named={changes.length > 1} />
      ))}
      {item.result && (!showsFiles || item.result.is_error) && <Result item={item} result={item.result} dir={dir} />}
      {!item.result && <p className="body-note">{item.orphaned ? "The run ended before a result came." : "No result yet."}</p>}
    </div>
  );
}

function Result({ item, result, dir }: { item: ToolItem; result: ToolResult; dir: string }) {
  const read = useMemo(() => (item.name === "Read" && !result.is_error ? readLines(result.output) : null), [item.name, result]);
  if (read) return <ReadFile read={read} path={relativeTo(pathOf(item.input), dir)} truncated={result.truncated === true} />;
  const pictures = result.pictures ?? [];
  if (pictures.length > 0) {
    const said = withoutPictures(result);
    return (
      <>
        <ToolPictures channelId={item.channelId ?? ""} pictures={pictures} name={pathOf(item.input).split("/").at(-1) || "Picture"} />
        {said && <Output text={said} name="Output" error={result.is_error} truncated={result.truncated} />}
      </>
    );
  }
  const ran = item.name === "Bash"; // what failed says so in its own colours
  const text = ran && result.is_error ? withoutExit(result.output) : result.output;
  return <Output text={text} name="Output" error={result.is_error && !ran} truncated={result.truncated} />;
}

function pathOf(input: unknown): string {
  const path = typeof input === "object" && input !== null ? (input as Record<string, unknown>).file_path : "";
  return typeof path === "string" ? path : "";
}

/** Parts of an input that the row above shows. */
const ROW_SAYS: Record<string, string[]> = { Read: ["file_path", "offset", "limit"], Grep: ["pattern", "path", "output_mode"], Glob: ["pattern", "path"], LS: ["path"] };

function Input({ item }: { item: ToolItem }) {
  const input = item.input;
  if (input === null || input === undefined) return null;
  if (typeof input === "object") {
    const o = input as Record<string, unknown>;
    if (item.name === "Bash" && typeof o.command === "string") return isShort(o.command) ? null : <Output text={`$ ${o.command}`} name="Command" />;
    if (item.name === "TodoWrite" && Array.isArray(o.todos)) return <Todos todos={o.todos} />;
    const named = ROW_SAYS[item.name] ?? [];
    if (Object.keys(o).every((k) => named.includes(k))) return null;
  }
  return <Output text={typeof input === "string" ? input : safeJSON(input)} name="Input" />;
}

/** Whether the row above already shows the whole command. */
function isShort(command: string): boolean {
  return command.length <= 56 && !command.includes("\n");
}

function Todos({ todos }: { todos: unknown[] }) {
  return (
    <ul className="todos selectable">
      {todos.map((t, i) => {
        const { content, status } = (t ?? {}) as { content?: unknown; status?: unknown };
        const mark = status === "completed" ? "✓" : status === "in_progress" ? "→" : "·";
        return (
          <li key={i} className={String(status)}>
            <span aria-hidden="true">{mark}</span>
            <span className="sr-only">{String(status ?? "open").replace("_", " ")}: </span>
            <SafeText text={String(content ?? "")} />
          </li>
        );
      })}
    </ul>
  );
}
