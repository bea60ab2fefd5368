import { Copy, Ellipsis, GitBranch, History, MessageSquarePlus, Pencil, Trash2 } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { useEffect, useRef, useState } from "react";
import type { ChannelView } from "../../api/types";
import { visible } from "../../model/text";
import { copyText } from "../../shell/clipboard";
import { IconButton, Kbd } from "../../ui/Button";
import { openDialog, toast } from "../frame/actions";
import type { Dialog } from "../../model/stores";
import { newThread } from "../frame/branches";

/**
 * What can be done with a channel. In the tree a button may not stand beside an
 * item, so there it is for the mouse only and the item itself opens the menu:
 * with Shift F10, the menu key or a right click (a “menu” event on the row).
 */
export function ChannelMenu({ channel, inTree }: { channel: ChannelView; inTree?: boolean }) {
  const [shown, setShown] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const row = () => button.current?.closest<HTMLElement>(".row");
  useEffect(() => {
    const el = button.current?.closest<HTMLElement>(".row");
    const show = (e: Event) => {
      e.preventDefault();
      setShown(true);
    };
    el?.addEventListener("contextmenu", show);
    return () => el?.removeEventListener("contextmenu", show);
  }, []);
  // A dialog that the menu opens must get the focus, not the button behind it.
  const open = (d: Dialog) => setTimeout(() => openDialog(d, channel.channel_id));
  return (
    <DropdownMenu.Root modal={false} open={shown} onOpenChange={setShown}>
      <DropdownMenu.Trigger asChild>
        <IconButton small className="row-menu" name={`Actions for ${visible(channel.name)}`} ref={button} {...(inTree ? { tabIndex: -1, "aria-hidden": true } : {})}>
          <Ellipsis size={14} />
        </IconButton>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="start" sideOffset={2} onCloseAutoFocus={(e) => {
          e.preventDefault();
          row()?.querySelector<HTMLElement>(".row-main")?.focus({ preventScroll: true });
        }}>
          <DropdownMenu.Item className="menu-item" onSelect={() => setTimeout(() => void newThread(channel.channel_id))}>
            <MessageSquarePlus size={14} aria-hidden /> New thread
          </DropdownMenu.Item>
          {channel.kind !== "demo" && (
            <DropdownMenu.Item className="menu-item" onSelect={() => open("worktree")}>
              <GitBranch size={14} aria-hidden /> New worktree
            </DropdownMenu.Item>
          )}
          <DropdownMenu.Item className="menu-item" onSelect={() => open("sessions")}>
            <History size={14} aria-hidden /> Conversations
          </DropdownMenu.Item>
          <DropdownMenu.Separator className="menu-line" />
          <DropdownMenu.Item className="menu-item" onSelect={() => open("rename")}>
            <Pencil size={14} aria-hidden /> Rename <Kbd>F2</Kbd>
          </DropdownMenu.Item>
          <DropdownMenu.Item className="menu-item" onSelect={() => void copyText(channel.dir).then(() => toast("Copied the folder's path."))}>
            <Copy size={14} aria-hidden /> Copy folder path
          </DropdownMenu.Item>
          <DropdownMenu.Item className="menu-item danger" onSelect={() => open("remove")}>
            <Trash2 size={14} aria-hidden /> Remove <Kbd>Del</Kbd>
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
