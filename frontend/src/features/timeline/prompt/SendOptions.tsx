import { ChevronDown } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { PromptOptions } from "../../../api/types";
import { IconButton } from "../../../ui/Button";
import { keys, MOD } from "../../../ui/keys";
import { Menu, MenuItem, MenuLine } from "../../../ui/Menu";

const DELAYS: [string, number][] = [["in 5 minutes", 300], ["in 30 minutes", 1800], ["in 1 hour", 3600], ["in 3 hours", 10800], ["in 8 hours", 28800]];

type Props = { busy: boolean; disabled: boolean; plan: boolean; onPlan(on: boolean): void; onSend(options: PromptOptions): void };

/** The menu with other ways to send the prompt. */
export function SendOptions({ busy, disabled, plan, onPlan, onSend }: Props) {
  return (
    <Menu align="end" side="top" sideOffset={6} button={<IconButton name="More ways to send" className="send-more"><ChevronDown size={14} /></IconButton>}>
      <MenuItem name="Stop the run and send at once" hint={keys(MOD, "Enter")} disabled={disabled || !busy} onSelect={() => onSend({ interrupt: true })} />
      {DELAYS.map(([word, seconds]) => <MenuItem key={word} name={`Send ${word}`} disabled={disabled} onSelect={() => onSend({ delay_seconds: seconds })} />)}
      <MenuLine />
      <DropdownMenu.CheckboxItem className="menu-item" checked={plan} onCheckedChange={(on) => onPlan(on === true)} onSelect={(e) => e.preventDefault()}>
        <span className="menu-dot">{plan ? "•" : ""}</span>
        Plan first: your folders are read-only until you approve
      </DropdownMenu.CheckboxItem>
    </Menu>
  );
}
