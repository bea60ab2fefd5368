import { BellRing, ChevronDown } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { useStore } from "zustand";
import type { ChannelView } from "../../api/types";
import { RINGS, ringsOf, ringWords } from "../../model/rings";
import { frameStore } from "../../model/stores";
import { visible } from "../../model/text";
import { setRings } from "../../session/desk";
import { Button } from "../../ui/Button";
import { Menu, MenuLine } from "../../ui/Menu";

/** What the desktop tells of the framed card's channel, and the choice of it. */
export function RingsMenu({ channel, off }: { channel: ChannelView; off: boolean }) {
  const channels = useStore(frameStore, (f) => f.channels);
  const settings = useStore(frameStore, (f) => f.config?.notify ?? "");
  const own = channel.choices?.notify ?? "";
  const item = (value: string, words: string) => (
    <DropdownMenu.RadioItem key={value} value={value} className="menu-item">
      <span className="menu-dot">{own === value ? "•" : ""}</span>
      {words}
    </DropdownMenu.RadioItem>
  );
  const above = ringWords(ringsOf(channels, channel.parent_id ?? "", settings));
  return (
    <Menu align="end" button={
      <Button look="small" disabled={off} aria-label={`Rings for ${ringWords(ringsOf(channels, channel.channel_id, settings))}, of ${visible(channel.name)}`}>
        <BellRing size={13} aria-hidden /> <span className="desk-rings ellipsis">Rings for {ringWords(ringsOf(channels, channel.channel_id, settings))}</span> <ChevronDown size={13} aria-hidden />
      </Button>
    }>
      <DropdownMenu.Label className="menu-label">{visible(channel.name)} rings for</DropdownMenu.Label>
      <DropdownMenu.RadioGroup value={own} onValueChange={(v) => void setRings(channel.channel_id, v)}>
        {RINGS.map((r) => item(r.value, r.words))}
        <MenuLine />
        {item("", `as ${channel.parent_id ? "above it" : "in the settings"}: ${above}`)}
      </DropdownMenu.RadioGroup>
    </Menu>
  );
}
