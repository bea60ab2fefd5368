import { SafeText } from "../../ui/SafeText";

const CLASS: Record<string, string> = { "+": "added", "-": "removed", "@": "place" };

/** A unified diff as lines; the sign stays, so that colour is not the only word. */
export function UnifiedDiff({ text, name }: { text: string; name: string }) {
  const lines = text.replace(/\n$/, "").split("\n");
  return (
    <pre className="udiff mono selectable" tabIndex={0} aria-label={name}>
      {lines.map((line, i) => (
        <span key={i} className={/^(---|\+\+\+) /.test(line) ? "place" : (CLASS[line[0] ?? ""] ?? "")}>
          <SafeText text={line} />
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
