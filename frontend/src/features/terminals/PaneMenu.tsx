import { ContextMenu } from "radix-ui";
import { useState } from "react";
import type { KeyAction } from "../../model/terminals/keys";
import { tableName } from "../../model/terminals/keys";
import { KeyOf } from "../../ui/Button";
import { front, useLayer } from "../../ui/layer";

type Props = {
  run(action: KeyAction): void;
  mac: boolean;
  live: boolean;
  recording: boolean;
  selected(): boolean;
  output(): { text: string; command: string } | null;
  selectAll(): void;
  copyOutput(text: string): void;
  record(on: boolean): void;
};

/** The menu of a pane. The right button, the menu key or a long press opens it. */
export function PaneMenu(p: Props) {
  const { mark, props } = useLayer();
  // Selection and output change without React, so the menu reads them when it opens.
  const [now, setNow] = useState({ selected: false, output: null as { text: string } | null });
  const item = (action: KeyAction, text: string, disabled = false) => (
    <ContextMenu.Item className="menu-item" disabled={disabled} onSelect={() => front.after(() => p.run(action))}>
      {text}
      <KeyOf of={tableName(action)} />
    </ContextMenu.Item>
  );
  return (
    <ContextMenu.Portal>
      <ContextMenu.Content
        className="menu term-menu"
        ref={(el) => {
          if (el && !el.dataset.asked) {
            el.dataset.asked = "yes";
            setNow({ selected: p.selected(), output: p.output() });
          }
        }}
        {...props}
      >
        {mark}
        {item("copy", "Copy", !now.selected)}
        {item("paste", "Paste", !p.live)}
        <ContextMenu.Item className="menu-item" onSelect={p.selectAll}>Select all</ContextMenu.Item>
        <ContextMenu.Item className="menu-item" disabled={!now.output} onSelect={() => now.output && p.copyOutput(now.output.text)}>Copy the command’s output</ContextMenu.Item>
        <ContextMenu.Separator className="menu-line" />
        {item("find", "Find")}
        {item("previous-command", "Previous command")}
        {item("next-command", "Next command")}
        {item("clear", "Clear")}
        <ContextMenu.Separator className="menu-line" />
        {item("split-right", "Split right")}
        {item("split-down", "Split down")}
        {item("new", "New terminal")}
        <ContextMenu.Item className="menu-item" disabled={!p.live && !p.recording} onSelect={() => p.record(!p.recording)}>{p.recording ? "Stop recording" : "Record"}</ContextMenu.Item>
        <ContextMenu.Separator className="menu-line" />
        {item("close", "Close")}
      </ContextMenu.Content>
    </ContextMenu.Portal>
  );
}
