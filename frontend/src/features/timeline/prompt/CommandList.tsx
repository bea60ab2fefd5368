import { useEffect, useRef } from "react";
import { Kbd } from "../../../ui/Button";
import { SafeText } from "../../../ui/SafeText";
import { Marked } from "./MentionList";
import type { Commands } from "./useCommands";
import "./mention.css";
import "./command.css";

/** The commands that the person may mean. The prompt box keeps the focus. */
export function CommandList({ commands }: { commands: Commands }) {
  const { groups, total, known, left, active, id } = commands;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [active, groups]);
  let n = 0;
  return (
    <div className="mention">
      <p className="sr-only" role="status">{known ? `${total} ${total === 1 ? "command fits" : "commands fit"}` : ""}</p>
      {!known ? <p className="mention-note command-note">Looking for commands</p> : null}
      {known && total === 0 ? <p className="mention-note command-note">No command matches. The prompt is sent as it is.</p> : null}
      {total > 0 && (
        <div className="mention-list command-list" role="listbox" aria-label="Commands" id={id} ref={list}>
          {groups.map((g) => (
            <div key={g.source} role="group" aria-label={g.title} className="command-group">
              <div className="mention-head" aria-hidden><span>{g.title}</span><span className="mono">{g.place}</span></div>
              {g.matches.map(({ command, parts }) => {
                const i = n++;
                return (
                  <div
                    key={command.name}
                    id={`${id}-${i}`}
                    role="option"
                    aria-selected={i === active}
                    className="mention-row command-row"
                    onMouseDown={(e) => e.preventDefault()}
                    onMouseMove={() => commands.point(i)}
                    onClick={() => commands.choose(i)}
                  >
                    <span className="command-name">
                      <span className="mention-name">/<Marked parts={parts} /></span>
                      {command.hint && <span className="mention-dir"><SafeText text={command.hint} /></span>}
                    </span>
                    <span className="command-says"><SafeText text={command.description ?? ""} /></span>
                  </div>
                );
              })}
            </div>
          ))}
        </div>
      )}
      {left ? <p className="mention-note"><SafeText text={left} /></p> : null}
      <div className="mention-foot">
        <span><Kbd>↑</Kbd> <Kbd>↓</Kbd> choose</span><span><Kbd>Enter</Kbd> insert</span><span className="mention-close"><Kbd>Esc</Kbd> close</span>
      </div>
    </div>
  );
}
