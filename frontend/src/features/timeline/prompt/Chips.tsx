import { ChevronDown, Gauge, LockKeyhole, MessageSquarePlus, Sparkles, X } from "lucide-react";
import type { ReactNode } from "react";
import { useState } from "react";
import { DropdownMenu } from "radix-ui";
import { useStore } from "zustand";
import type { ChannelID } from "../../../api/types";
import { EFFORTS, MODELS, modelWord } from "../../../model/models";
import { frameStore, timelineOf, timelinesStore } from "../../../model/stores";
import { visible } from "../../../model/text";
import { wishesStore } from "../../../model/wish";
import { Button, IconButton } from "../../../ui/Button";
import { front } from "../../../ui/layer";
import { Menu, MenuItem, MenuLine } from "../../../ui/Menu";
import { SafeText } from "../../../ui/SafeText";
import { focusPrompt } from "../../../session/actions";
import { chooseForChannel, dropNextSession } from "../../../session/choices";
import { setPlan, setWish, wishIn } from "../../../session/drafts";
import { OtherModel } from "./OtherModel";
import { useKeyText } from "../../../ui/keys";
import "./chips.css";

export type OpenChip = "" | "model" | "effort";
type Scope = "prompt" | "channel";

const NEXT: Record<string, string> = { fork: "Copy of the conversation", fresh: "New conversation", resume: "An earlier conversation" };

type Props = { channelId: ChannelID; plan: boolean; open: OpenChip; onOpen(chip: OpenChip): void };

/** How the prompt in the box will be sent: its model and effort, whether it plans first, and which conversation it goes on with. */
export function Chips({ channelId, plan, open, onOpen }: Props) {
  const channel = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === channelId));
  const last = useStore(timelinesStore, (all) => Object.values(timelineOf(all, channelId).built.runs).findLast((r) => r.model && !r.ownModel)?.model ?? "");
  const wish = useStore(wishesStore, (all) => wishIn(all, channelId));
  const [other, setOther] = useState<Scope | null>(null);
  const demo = channel?.kind === "demo";
  const choices = channel?.choices ?? {};
  const next = channel?.next_session?.mode ?? "";
  const menu = (chip: OpenChip) => ({ open: open === chip, onOpen: (on: boolean) => onOpen(on ? chip : "") });
  const choose = (scope: Scope, part: { model?: string; effort?: string }) => {
    if (scope === "prompt") setWish(channelId, part);
    else {
      setWish(channelId, "model" in part ? { model: "" } : { effort: "" });
      void chooseForChannel(channelId, part);
    }
  };
  return (
    <span className="prompt-chips">
      {demo ? (
        <span className="chip" title="Claude Code, scripted model"><Sparkles size={13} aria-hidden /><span className="ellipsis">Claude Code, scripted model</span></span>
      ) : (
        <>
          <ChipMenu
            {...menu("model")} kind="Model" icon={<Sparkles size={13} aria-hidden />} own={wish.model} channels={choices.model ?? ""}
            word={(name) => modelWord(name, last)} usual={last ? modelWord(last) : "Default model"} list={MODELS}
            onChoose={(scope, model) => choose(scope, { model })} onOther={setOther}
          />
          <ChipMenu
            {...menu("effort")} kind="Effort" icon={<Gauge size={13} aria-hidden />} own={wish.effort} channels={choices.effort ?? ""}
            word={(name) => `Effort ${name}`} usual="Default effort" list={EFFORTS.map((name) => ({ name, says: "" }))}
            onChoose={(scope, effort) => choose(scope, { effort })}
          />
        </>
      )}
      {wish.fresh && <SetChip icon={<MessageSquarePlus size={13} aria-hidden />} off="Go on with the conversation" onOff={() => setWish(channelId, { fresh: false })}>New conversation</SetChip>}
      {!wish.fresh && next && <SetChip off="Go on with the channel's conversation" onOff={() => void dropNextSession(channelId)}>{NEXT[next] ?? next}</SetChip>}
      {plan && <SetChip icon={<LockKeyhole size={13} aria-hidden />} off="Don't plan first" onOff={() => setPlan(channelId, false)}>Plan first, read-only</SetChip>}
      {other && (
        <OtherModel scope={other} now={other === "prompt" ? wish.model : (choices.model ?? "")} onClose={() => setOther(null)} onChoose={(model) => choose(other, { model })} />
      )}
    </span>
  );
}

type SetProps = { icon?: ReactNode; off: string; onOff(): void; children: string };

/** Something that the prompt is sent with, which can be taken away. */
function SetChip({ icon, off, onOff, children }: SetProps) {
  return (
    <span className={"chip chips-set"} title={children}>
      {icon}
      <span className="ellipsis">{children}</span>
      <IconButton small name={off} onClick={() => { focusPrompt(); onOff(); }}><X size={12} /></IconButton>
    </span>
  );
}

type MenuProps = {
  kind: "Model" | "Effort";
  icon: ReactNode;
  open: boolean;
  onOpen(on: boolean): void;
  own: string; // of the prompt
  channels: string; // of the channel
  usual: string; // where neither has one
  word(name: string): string;
  list: { name: string; says: string }[];
  onChoose(scope: Scope, name: string): void;
  onOther?(scope: Scope): void;
};

/** A chip with a menu: what counts for this prompt, or for the channel. A dot marks one of the prompt's own. */
function ChipMenu({ kind, icon, open, onOpen, own, channels, usual, word, list, onChoose, onOther }: MenuProps) {
  const [scope, setScope] = useState<Scope>("prompt");
  const key = useKeyText()(kind === "Model" ? "prompt.model" : "prompt.effort");
  const channelWord = channels ? word(channels) : usual;
  const now = own ? word(own) : channelWord;
  const differs = own !== "" && own !== channels;
  const chosen = scope === "prompt" ? own : channels;
  const odd = chosen && !list.some((m) => m.name === chosen) ? [{ name: chosen, says: "" }] : [];
  const pick = (name: string) => front.after(() => { focusPrompt(); onChoose(scope, name); });
  const button = (
    <Button look="chip chips-menu" aria-label={`${kind}: ${visible(now)}${differs ? ", for this prompt" : ""}`} title={key ? `${kind} (${key})` : kind}>
      {icon}
      <span className="ellipsis"><SafeText text={now} /></span>
      {differs && <span className="chips-dot" aria-hidden />}
      <ChevronDown size={12} aria-hidden />
    </Button>
  );
  const item = (value: string, name: ReactNode, says: string) => (
    <DropdownMenu.RadioItem key={value} value={value} className="menu-item" onSelect={() => pick(value)}>
      <span className="menu-dot">{chosen === value ? "•" : ""}</span>
      {name}
      {says && <span className="menu-word"><SafeText text={says} /></span>}
    </DropdownMenu.RadioItem>
  );
  return (
    <Menu open={open} onOpenChange={(on) => { setScope("prompt"); onOpen(on); }} align="start" side="top" sideOffset={6} className="chips-list" button={button}>
      <DropdownMenu.RadioGroup value={chosen} aria-label={kind}>
        {item("", scope === "prompt" ? "As the channel has it" : "As the settings have it", scope === "prompt" ? channelWord : "")}
        {[...list, ...odd].map((m) => item(m.name, <SafeText text={word(m.name)} />, m.says))}
      </DropdownMenu.RadioGroup>
      {onOther && <MenuItem icon={<span className="menu-dot" />} name="Another model…" onSelect={() => onOther(scope)} />}
      <MenuLine />
      <DropdownMenu.RadioGroup value={scope} onValueChange={(v) => setScope(v as Scope)} aria-label="Counts for">
        {(["prompt", "channel"] as const).map((s) => (
          <DropdownMenu.RadioItem key={s} value={s} className="menu-item" onSelect={(e) => e.preventDefault()}>
            <span className="menu-dot">{scope === s ? "•" : ""}</span>
            {s === "prompt" ? "For this prompt" : "For the channel, from now on"}
          </DropdownMenu.RadioItem>
        ))}
      </DropdownMenu.RadioGroup>
    </Menu>
  );
}
