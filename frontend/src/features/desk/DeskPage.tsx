import { Bell, BellOff, CircleAlert } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import type { Need } from "../../model/desk";
import { deskKey, deskSight, framed, groups, needs, projectOf, stopOf } from "../../model/desk";
import { connectionStore, frameStore, seenStore } from "../../model/stores";
import { visible } from "../../model/text";
import { focusPrompt, select, setDoNotDisturb, stopRun } from "../../session/actions";
import { leaveDesk, readFor, reviewFromDesk } from "../../session/desk";
import { goTo } from "../../session/gate";
import { markSeen } from "../../session/seen";
import { useChannels } from "../../session/useChannels";
import { useInert } from "../../ui/approval/useInert";
import { Button, Kbd, KeyOf } from "../../ui/Button";
import { FilterChip } from "../../ui/FilterChip";
import { composing, keys, MOD, mod, pressed } from "../../ui/keys";
import { StateWord } from "../../ui/StateWord";
import { ChannelCard } from "./ChannelCard";
import type { NeedHandle } from "./NeedCard";
import { NeedCard } from "./NeedCard";
import { RingsMenu } from "./RingsMenu";
import "./desk.css";

const FULL = 6; // with more that wait, all but the framed one are lines

/** All channels on one screen: what waits for the person in one queue, and the rest by state. */
export function DeskPage() {
  const approvals = useStore(frameStore, (f) => f.approvals);
  const questions = useStore(frameStore, (f) => f.questions);
  const quiet = useStore(frameStore, (f) => f.config?.do_not_disturb === true);
  const rings = useStore(frameStore, (f) => f.mode === "window");
  const off = useStore(connectionStore, (c) => c.state !== "online");
  const seen = useStore(seenStore, (s) => s.seen);
  const channels = useChannels();
  const [project, setProject] = useState("");
  const [wanted, setWanted] = useState({ key: "", place: 0 });
  const body = useRef<HTMLElement>(null);
  const entered = useRef(true);
  const handles = useRef(new Map<string, NeedHandle>());

  const of = (id: string) => projectOf(channels, id)?.channel_id ?? "";
  const all = useMemo(() => needs(approvals, questions, channels), [approvals, questions, channels]);
  const known = project && channels.some((c) => c.channel_id === project) ? project : "";
  const queue = known ? all.filter((n) => of(n.channel) === known) : all;
  const rest = groups(known ? channels.filter((c) => of(c.channel_id) === known) : channels, all, seen);
  const cards = [...queue.map((n) => n.id), ...rest.flatMap((g) => g.channels.map((c) => c.channel_id))];
  const at = framed(cards, wanted.key, wanted.place);
  const place = cards.indexOf(at);
  const { isDeaf, clicked, handlers } = useInert(deskSight(queue));
  const projects = channels.filter((c) => !c.parent_id && c.kind !== "demo");

  useEffect(() => readFor(rest.filter((g) => g.state === "done" || g.state === "working").flatMap((g) => g.channels.map((c) => c.channel_id))));
  const frame = (key: string) => setWanted({ key, place: cards.indexOf(key) });

  // The framed card has the keyboard while the desk has it. It moves when its card goes.
  useLayoutEffect(() => {
    const now = document.activeElement;
    const first = entered.current; // the person asked for the desk, so it gets the keyboard
    entered.current = false;
    if (!first && now !== document.body && now !== body.current && !body.current?.contains(now)) return;
    if (now instanceof HTMLElement && now.closest("[data-desk]")?.getAttribute("data-desk") === at) return;
    const card = [...(body.current?.querySelectorAll<HTMLElement>("[data-desk]") ?? [])].find((el) => el.dataset.desk === at);
    (card ?? body.current)?.focus({ preventScroll: true });
    card?.scrollIntoView({ block: "nearest" });
  }, [at]);

  const need = queue.find((n) => n.id === at);
  const channel = need?.channel ?? (place >= 0 ? at : "");
  const framedChannel = channels.find((c) => c.channel_id === channel && c.kind !== "demo");
  const open = (n: Need | undefined, id: string) => {
    if (n) return goTo(stopOf(n));
    select(id);
    focusPrompt();
  };

  function onKeyDown(e: KeyboardEvent) {
    if (composing(e) || e.defaultPrevented) return;
    const target = e.target as HTMLElement;
    const { key, ctrlKey, metaKey, altKey, shiftKey, repeat } = e;
    const k = deskKey({ key, ctrlKey, metaKey, altKey, shiftKey, repeat, mod: mod(e.nativeEvent) }, target.matches("input:not([type=radio]):not([type=checkbox]),textarea"), pressed("desk", e), target.matches("[type=radio]"));
    if (!k || (k.act === "open" && target.closest("button,a"))) return;
    e.preventDefault();
    e.stopPropagation();
    const go = (i: number) => cards.length > 0 && frame(cards[Math.max(0, Math.min(cards.length - 1, i))] ?? "");
    const acts = {
      number: (n: number) => !isDeaf() && !off && handles.current.get(at)?.number(n),
      give: () => !isDeaf() && !off && handles.current.get(at)?.give(),
      open: () => channel && open(need, channel), next: () => go(place + 1), previous: () => go(place - 1), first: () => go(0), last: () => go(cards.length - 1),
      review: () => channel && reviewFromDesk(channel), seen: () => !need && channel && markSeen(channel), stop: () => channel && !off && void stopRun(channel), back: leaveDesk,
    };
    if (k.act === "number") acts.number(k.n);
    else acts[k.act]();
  }

  return (
    <section className="desk" aria-label="Desk" ref={body} tabIndex={-1} data-region="desk" onKeyDown={onKeyDown} {...handlers}>
      <header className="desk-head">
        <div className="desk-filters" role="group" aria-label="Projects">
          <FilterChip on={!known} onChoose={() => setProject("")}>All {channels.length}</FilterChip>
          {projects.map((p) => <FilterChip key={p.channel_id} on={known === p.channel_id} onChoose={() => setProject(p.channel_id)}>{visible(p.name)} {channels.filter((c) => of(c.channel_id) === p.channel_id).length}</FilterChip>)}
        </div>
        {rings && framedChannel && <RingsMenu channel={framedChannel} off={off} />}
        {rings && (
          <Button look="small" aria-pressed={quiet} disabled={off} onClick={() => void setDoNotDisturb(!quiet)}>
            {quiet ? <BellOff size={13} aria-hidden /> : <Bell size={13} aria-hidden />} Do not disturb {quiet ? "on" : "off"}
          </Button>
        )}
      </header>
      <div className="desk-body">
        <div className="desk-queue" role="group" aria-label="Needs you">
          <h2 className="desk-title need"><CircleAlert size={15} aria-hidden /> Needs you <span className="tnum">{queue.length}</span></h2>
          {queue.length === 0 && <p className="desk-none">Nobody waits for you{known && all.length > 0 ? " in this project" : ""}.</p>}
          {queue.map((n, i) => (
            <NeedCard key={n.id} need={n} nth={i + 1} of={queue.length} framed={n.id === at} line={queue.length > FULL && n.id !== at} off={off} clicked={clicked}
              onFrame={() => frame(n.id)} onOpen={() => open(n, n.channel)} handle={(h) => (h ? handles.current.set(n.id, h) : handles.current.delete(n.id))} />
          ))}
        </div>
        <div className="desk-rest">
          {rest.map((g) => (
            <div key={g.name} role="group" aria-label={g.name}>
              <h2 className="desk-title"><StateWord state={g.state} /> <span className="sr-only">:</span> {g.name} <span className="tnum">{g.channels.length}</span></h2>
              {g.channels.map((c) => (
                <ChannelCard key={c.channel_id} channel={c} framed={c.channel_id === at} line={g.state === "idle" || g.channels.length > FULL} off={off} onFrame={() => frame(c.channel_id)} onOpen={() => open(undefined, c.channel_id)} />
              ))}
            </div>
          ))}
        </div>
      </div>
      <footer className="desk-foot" aria-hidden>
        <span><Kbd>1</Kbd> to <Kbd>9</Kbd> choose in the framed card</span>
        <span><Kbd>{keys(MOD, "Enter")}</Kbd> give the answer</span>
        <span><KeyOf of="desk.next" /> <KeyOf of="desk.previous" /> frame another</span>
        <span><Kbd>Enter</Kbd> open the channel</span>
        <span><KeyOf of="desk.review" /> review</span>
        <span><KeyOf of="desk.seen" /> mark as seen</span>
        <span><KeyOf of="desk.stop" /> stop</span>
        <span className="grow" />
        <span><Kbd>Esc</Kbd> back to where you were</span>
      </footer>
    </section>
  );
}
