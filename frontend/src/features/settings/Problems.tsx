import { FileWarning } from "lucide-react";
import type { SettingsView } from "../../api/types";
import { visible } from "../../model/text";
import { CopyIcon } from "../../ui/CopyButton";
import { SafeText } from "../../ui/SafeText";

/** The settings files that apply here, and the problems in them. */
export function Problems({ view }: { view: SettingsView | null }) {
  const paths = [view?.path, view?.project_path, view?.worktree_path].filter((p): p is string => Boolean(p));
  const problems = view?.problems ?? [];
  return (
    <>
      {paths.map((p) => (
        <p key={p} className="setting-path">
          <span className="mono selectable">{visible(p)}</span>
          <CopyIcon text={p} name="Copy the path" />
        </p>
      ))}
      {view && problems.length === 0 && <p className="hint">Read without problems.</p>}
      <ul className="problems selectable">
        {problems.map((p) => (
          <li key={`${p.path}:${p.line}:${p.col}:${p.field}`}>
            <FileWarning size={14} aria-hidden />
            <div>
              <p>
                <span className="mono">
                  {paths.length > 1 ? `${visible(p.path.split("/").slice(-3).join("/"))}:` : ""}
                  {p.line > 0 ? `${p.line}:${p.col} ` : ""}
                  {visible(p.field)}
                </span>{" "}
                <SafeText text={p.message} />
              </p>
              {p.remedy && (
                <p className="muted">
                  <SafeText text={p.remedy} />
                </p>
              )}
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
