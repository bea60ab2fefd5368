import { FileWarning } from "lucide-react";
import type { SettingsProblem, SettingsView } from "../../api/types";
import { visible } from "../../model/text";
import { CopyIcon } from "../../ui/CopyButton";
import { SafeText } from "../../ui/SafeText";

type Props = { view: SettingsView | null; list?: SettingsProblem[]; read?: boolean; onGo?(line: number, col: number): void };

/** The settings files that apply here, and the problems in them. With onGo, a problem leads to its place in the text. */
export function Problems({ view, list, read = view !== null, onGo }: Props) {
  const paths = [view?.path, view?.project_path, view?.worktree_path].filter((p): p is string => Boolean(p));
  const problems = list ?? view?.problems ?? [];
  return (
    <>
      {paths.map((p) => (
        <p key={p} className="setting-path">
          <span className="mono selectable">{visible(p)}</span>
          <CopyIcon text={p} name="Copy the path" />
        </p>
      ))}
      {read && problems.length === 0 && <p className="hint">{onGo ? "No problem in this text." : "Read without problems."}</p>}
      <ul className="problems selectable">
        {problems.map((p) => (
          <li key={`${p.path}:${p.line}:${p.col}:${p.field}`}>
            <FileWarning size={14} aria-hidden />
            <div>
              <p>
                {onGo && p.line > 0 ? (
                  <button type="button" className="link mono" onClick={() => onGo(p.line, p.col)}>Line {p.line}, column {p.col}</button>
                ) : (
                  <span className="mono">
                    {paths.length > 1 ? `${visible(p.path.split("/").slice(-3).join("/"))}:` : ""}
                    {p.line > 0 ? `${p.line}:${p.col} ` : ""}
                    {visible(p.field)}
                  </span>
                )}{" "}
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
