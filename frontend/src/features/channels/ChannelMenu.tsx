import { Copy, Ellipsis, Pencil, Trash2 } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ChannelView } from "../../api/types";
import { visible } from "../../model/text";
import { copyText } from "../../shell/clipboard";
import { IconButton, Kbd } from "../../ui/Button";
import { openDialog, toast } from "../frame/actions";

export function ChannelMenu({ channel }: { channel: ChannelView }) {
  // A dialog that the menu opens must get the focus, not the button behind it.
  const open = (d: "rename" | "remove") => setTimeout(() => openDialog(d, channel.channel_id));
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>
        <IconButton small className="row-menu" name={`Actions for ${visible(channel.name)}`} tabIndex={0}>
          <Ellipsis size={14} />
        </IconButton>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="start" sideOffset={2}>
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
