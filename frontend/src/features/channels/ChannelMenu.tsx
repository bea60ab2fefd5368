import { Copy, Ellipsis, GitBranch, History, MessageSquarePlus, Pencil, SlidersHorizontal, Trash2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { ChannelView } from "../../api/types";
import { visible } from "../../model/text";
import { copyText, NOT_COPIED } from "../../shell/clipboard";
import { IconButton } from "../../ui/Button";
import { keyText } from "../../ui/keys";
import { Menu, MenuItem, MenuLine } from "../../ui/Menu";
import { openDialog } from "../../session/actions";
import type { Dialog } from "../../model/stores";
import { newThread } from "../../session/branches";
import { toast } from "../../model/stores";

/**
 * The menu of a channel. A tree may not hold a button beside an item, so the button in
 * the tree is for the mouse only. The item itself opens the menu with Shift F10, the menu
 * key or a right click, by a “menu” event on the row.
 */
export function ChannelMenu({ channel, inTree }: { channel: ChannelView; inTree?: boolean }) {
  const [shown, setShown] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const el = button.current?.closest<HTMLElement>(".row");
    const show = (e: Event) => {
      e.preventDefault();
      setShown(true);
    };
    el?.addEventListener("contextmenu", show);
    return () => el?.removeEventListener("contextmenu", show);
  }, []);
  const open = (d: Dialog) => () => openDialog(d, channel.channel_id);
  const trigger = (
    <IconButton small className="row-menu" name={`Actions for ${visible(channel.name)}`} ref={button} {...(inTree ? { tabIndex: -1, "aria-hidden": true } : {})}>
      <Ellipsis size={14} />
    </IconButton>
  );
  return (
    <Menu align="start" sideOffset={2} open={shown} onOpenChange={setShown} button={trigger}>
      <MenuItem icon={<MessageSquarePlus size={14} aria-hidden />} name="New thread" onSelect={() => void newThread(channel.channel_id)} />
      {channel.kind !== "demo" && <MenuItem icon={<GitBranch size={14} aria-hidden />} name="New worktree" onSelect={open("worktree")} />}
      <MenuItem icon={<History size={14} aria-hidden />} name="Conversations" onSelect={open("sessions")} />
      <MenuLine />
      <MenuItem icon={<Pencil size={14} aria-hidden />} name="Rename" hint={keyText("tree.rename")} onSelect={open("rename")} />
      {channel.kind !== "demo" && <MenuItem icon={<SlidersHorizontal size={14} aria-hidden />} name="Model, agent and folders" onSelect={open("choices")} />}
      <MenuItem icon={<Copy size={14} aria-hidden />} name="Copy folder path" onSelect={() => void copyText(channel.dir).then((ok) => toast(ok ? "Copied the folder's path." : NOT_COPIED))} />
      <MenuItem icon={<Trash2 size={14} aria-hidden />} name="Remove" hint={keyText("tree.remove")} danger onSelect={open("remove")} />
    </Menu>
  );
}
