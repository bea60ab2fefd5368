import { UserRoundCog } from "lucide-react";
import { useEffect } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../../../api/types";
import { claudeSetupStore, setupUnused } from "../../../model/claude-setup";
import { frameStore } from "../../../model/stores";
import { Button } from "../../../ui/Button";
import { focusPrompt, openDialog } from "../../../session/actions";
import { askLater, followSetup } from "../../../session/claude-setup";
import { Line } from "./Banner";

/**
 * Asks once whether agents may have the person's own Claude set-up. It waits to be noticed and takes no
 * focus. Its buttons give the focus to the prompt box, as the line may be gone after them.
 */
export function SetupLine({ channelId }: { channelId: ChannelID }) {
  const config = useStore(frameStore, (f) => f.config);
  const asked = useStore(frameStore, (f) => {
    const channel = f.channels.find((c) => c.channel_id === channelId);
    if (!channel || channel.kind === "demo") return false;
    const owner = channel.kind === "thread" ? f.channels.find((c) => c.channel_id === channel.parent_id) : channel;
    return !owner?.choices?.claude_setup;
  });
  const { view, later } = useStore(claudeSetupStore);
  useEffect(() => {
    if (asked && config && !later) followSetup(config);
  }, [asked, config, later]);
  const words = asked && !later && view ? setupUnused(view) : "";
  if (!words) return null;
  return (
    <Line icon={<UserRoundCog size={14} aria-hidden />} tone="setup-line" text="" more={words}>
      <Button look="small" onClick={() => { focusPrompt(); openDialog("setup"); }}>Show…</Button>
      <Button look="small" onClick={() => { askLater(); focusPrompt(); }}>Not now</Button>
    </Line>
  );
}
