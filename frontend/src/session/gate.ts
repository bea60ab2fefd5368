// What waits for the person: answers to approvals, and the way from one to the next.
import type { Approval, ApprovalAnswer, GroupAnswer, LoopEvent } from "../api/types";
import { openPanel, revealTimeline } from "../dock/dock";
import { BROWSER_PANEL } from "../model/browser/baton";
import type { Choice, Stop } from "../model/gate";
import { applyGate, inTimeline, nextStop, stops, WAITING_PANEL } from "../model/gate";
import type { StopState } from "../model/stores";
import { frameStore, stopStore, timelineOf, timelinesStore, toast, viewStore } from "../model/stores";
import { visible } from "../model/text";
import { front } from "../ui/layer";
import { select, stopRun } from "./actions";
import { focusNeed } from "./branches";
import { session } from "./session";

/** Applies an answer's result before its event comes. */
function take(a: Approval | null) {
  if (!a?.approval_id) return;
  const type = a.state === "waiting" ? "gate.changed" : "gate.resolved";
  frameStore.setState((f) => applyGate(f, { seq: 0, type, channel_id: a.channel_id, timestamp: Date.now(), data: a } as LoopEvent));
}

/** What the card of an approval can do. The answer is bound to what the card shows. */
export function cardActions(a: Approval) {
  return {
    /** Throws a failure, as when it was answered elsewhere, or has changed meanwhile. */
    async answer(c: Choice) {
      const answer: ApprovalAnswer = { ...c, digest: a.digest, by: "window" };
      take(await session().api.gate.answer(a.approval_id, answer));
    },
    async answerGroups(groups: GroupAnswer[]) {
      take(await session().api.gate.answer(a.approval_id, { allow: false, scope: "once", digest: a.digest, by: "window", groups }));
    },
    async extend() {
      take(await session().api.gate.extend(a.approval_id));
    },
    go(back: boolean) {
      const next = nextStop(allStops(), a.approval_id, back);
      if (next) goTo(next);
    },
    ...(a.run_id ? { stop: () => void stopRun(a.channel_id) } : {}),
  };
}

export function allStops(): Stop[] {
  const { approvals, questions, channels } = frameStore.getState();
  return stops(approvals, questions, channels);
}

/** Goes to the next one that waits, the oldest first. Only the person's own action may call it. */
export function nextNeed(back = false) {
  const all = allStops();
  const next = nextStop(all, stopStore.getState().at, back);
  if (!next) {
    toast("Nothing waits for you.");
    return;
  }
  goTo(next);
  const name = frameStore.getState().channels.find((c) => c.channel_id === next.channel)?.name ?? "";
  if (all.length > 1 && !next.approval) toast(`${visible(name)}: ${all.indexOf(next) + 1} of ${all.length}`);
}

/** Shows a stop in its channel and gives it the keyboard. */
export function goTo(stop: Stop) {
  if (viewStore.getState().selected !== stop.channel) select(stop.channel);
  if (stop.browser) {
    front.after(() => openPanel({ kind: BROWSER_PANEL, data: null }));
    stopStore.setState({ at: stop.id });
    return;
  }
  if (stop.approval && !inTimeline(stop.approval)) return showInPanel(stop.id);
  revealTimeline();
  front.after(() => {
    ask(stop.id, stop.approval ? "timeline" : "");
    const there = () => viewStore.getState().selected === stop.channel; // F8 twice is the desk
    if (!stop.approval) requestAnimationFrame(() => requestAnimationFrame(() => there() && focusNeed()));
  });
}

/** Goes to the first of these items that its timeline has, and says so if it has none: g and an approval, or "tool " and a call. */
export function showInTimeline(channel: string, wanted: string[]) {
  if (viewStore.getState().selected !== channel) select(channel);
  const { items } = timelineOf(timelinesStore.getState(), channel).built;
  const has = (w: string) => w !== "" && items.some((it) => it.key === w || (it.kind === "tool" && `tool ${it.useId}` === w));
  const found = wanted.find(has);
  if (!found) {
    toast("It is not on a loaded page of the timeline. Scroll up there to load more.");
    return;
  }
  revealTimeline();
  front.after(() => ask(found, "timeline"));
}

export const NOT_SHOWN = "It is not shown in the timeline.";

/** Has the timeline show a row, and give it the keyboard unless that stays where it is. */
export function reveal(key: string, enter: boolean) {
  ask(enter ? key : `${STAY}${key}`, "timeline");
}

/** Before a row that is shown and does not get the keyboard. */
export const STAY = "stay ";

export function review(a: Approval) {
  goTo({ id: a.approval_id, channel: a.channel_id, approval: a });
}

/** Goes to what the person wants to see of a native dialog, or says that it is over. */
export function reviewAsked(id: string) {
  const a = frameStore.getState().approvals.find((x) => x.approval_id === id);
  if (a) review(a);
  else toast("It does not wait for you any more.");
}

const SOON_MS = 2000;

/** Gives the keyboard to the one question of a run, after a card that had it has gone over into that. */
export function followGathered(a: Approval) {
  const { approvals, answered } = frameStore.getState();
  if ([...approvals, ...answered].some((x) => x.approval_id === a.approval_id)) return; // only its row is out of sight
  const end = Date.now() + SOON_MS;
  const stop = frameStore.subscribe(look);
  function look() {
    const flood = frameStore.getState().approvals.find((x) => x.kind === "flood" && x.channel_id === a.channel_id && x.run_id === a.run_id);
    const moved = (document.activeElement ?? document.body) !== document.body; // the person went elsewhere
    if (flood || moved || Date.now() > end) stop();
    if (flood && !moved) ask(flood.approval_id, "timeline");
  }
  requestAnimationFrame(look); // its row is gone by then
}

/** Shows the card in the panel of what waits: its timeline has none, or not on a page that is loaded. */
export function showInPanel(id: string) {
  front.after(() => ask(id, "panel")); // before the panel is asked to take the keyboard for itself
  openWaiting();
}

const PATIENCE_MS = 4000; // for a timeline that is still on its way

function ask(at: string, to: StopState["to"]) {
  stopStore.setState({ at, to, until: Date.now() + PATIENCE_MS });
}

/** The id that this part of the page is asked to show now, once. "" if none. */
export function takeStop(part: StopState["to"]): string {
  const { at, to, until } = stopStore.getState();
  if (to !== part) return "";
  stopStore.setState({ to: "" });
  return Date.now() < until ? at : "";
}

export function openWaiting() {
  openPanel({ kind: WAITING_PANEL, data: null });
}

const FRAMES = 30;

/** Gives the keyboard to a card as soon as it is drawn, unless that takes long or the person goes elsewhere. */
export function focusCard(id: string, within: HTMLElement | null, frames = FRAMES) {
  const from = document.activeElement;
  const look = (left: number) => {
    const card = [...(within?.querySelectorAll<HTMLElement>("[data-approval]") ?? [])].find((el) => el.dataset.approval === id);
    if (card) {
      card.focus({ preventScroll: true });
      // Of a card that is higher than its list the beginning is shown, which says what it is about.
      card.scrollIntoView({ block: card.offsetHeight > (within?.clientHeight ?? 0) ? "start" : "nearest" });
    } else if (left > 0 && document.activeElement === from) requestAnimationFrame(() => look(left - 1));
  };
  look(frames);
}
