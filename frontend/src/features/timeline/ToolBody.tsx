import { safeJSON } from "../../api/failure";
import { relativeTo, visible } from "../../model/text";
import type { ToolItem } from "../../model/timeline/items";
import { SafeText } from "../../ui/SafeText";
import { FileDiff } from "./FileDiff";
import { Output } from "./Output";

/** The input and the result of one tool call. */
export function ToolBody({ item, dir }: { item: ToolItem; dir: string }) {
  const files = item.result?.files ?? [];
  const showsFiles = files.some((f) => f.patch);
  return (
    <div className="body">
      {!showsFiles && <Input item={item} />}
      {files.map((f) => (
        <FileDiff key={f.path} change={f} path={relativeTo(f.path, dir)} />
      ))}
      {item.result && (!showsFiles || item.result.is_error) && (
        <Output text={item.result.output} name="Output" error={item.result.is_error} truncated={item.result.truncated} />
      )}
      {!item.result && <p className="body-note">{item.orphaned ? "The run ended before a result came." : "No result yet."}</p>}
    </div>
  );
}

function Input({ item }: { item: ToolItem }) {
  const input = item.input;
  if (input === null || input === undefined) return null;
  if (typeof input === "object") {
    const o = input as Record<string, unknown>;
    if (item.name === "Bash" && typeof o.command === "string") return isShort(o.command) ? null : <Output text={`$ ${o.command}`} name="Command" />;
    if (item.name === "TodoWrite" && Array.isArray(o.todos)) return <Todos todos={o.todos} />;
    if (item.name === "Task" && typeof o.prompt === "string") return <Output text={o.prompt} name="Task" />;
    if (item.name === "Write" && typeof o.content === "string") return <Output text={o.content} name={visible(String(o.file_path ?? "Content"))} />;
    if (Object.keys(o).length === 0) return null;
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
