// Joins the bridge to the stores: snapshot, events, pages of timelines, and the person's requests.
import type { Api } from "../api/calls";
import { makeApi } from "../api/calls";
import { DENIED, OFFLINE, toFailure } from "../api/failure";
import type { LoopEvent, Run, RunID, TimelinePage } from "../api/types";
import { applyEvents, fromSnapshot, hasGap } from "../model/frame";
import { placedAs } from "../model/onhost";
import * as outbox from "../model/outbox";
import {
  announce, batchListeners, connectionStore, doctorStore, frameStore, outboxStore, setTimeline, timelineOf, timelinesStore, viewStore,
} from "../model/stores";
import { sessionsStore } from "../model/dock/store";
import { applyTerminalEvents, fromList } from "../model/terminals/sessions";
import { loadFailed, loaded, olderLoaded, receive, startLoading } from "../model/timeline/state";
import type { Bridge } from "../shell/bridge";
import { saveChoice, send } from "../shell/memory";
import { chooseKeys } from "../model/keys/store";

const PAGE = 300; // events in one page of a timeline
const FAR_PAGE = 1000; // on the way to a certain one
const HIDDEN_MS = 100;
const RESYNC_MS = 300; // ms; one load repairs several gaps in a row

export type Session = ReturnType<typeof startSession>;

let current: Session | null = null;
/** The one session of this page. It exists before React renders. */
export function session(): Session {
  if (!current) throw new Error("no session yet");
  return current;
}

export function startSession(bridge: Bridge) {
  const api: Api = makeApi(bridge.invoke);
  let held: LoopEvent[] | null = []; // events held back while a snapshot is on its way
  let snapshotRun = 0;
  let resync: ReturnType<typeof setTimeout> | undefined;

  async function snapshot() {
    const run = ++snapshotRun;
    held = held ?? [];
    try {
      // The page also works without the list of terminals.
      const [s, questions, terminals] = await Promise.all([api.system.snapshot(), api.runs.questions(), api.terminals.list("").then((l) => l ?? [], () => null)]);
      if (run !== snapshotRun) return;
      if (terminals) sessionsStore.setState(fromList(terminals));
      frameStore.setState({ questions: questions ?? [] });
      const waiting = held ?? [];
      held = null;
      const fresh = fromSnapshot(frameStore.getState(), s);
      frameStore.setState(applyEvents(fresh, waiting));
      if (hasGap(fresh, waiting)) setTimeout(() => void resyncAll(), RESYNC_MS);
      connectionStore.setState({ snapshotFailure: null });
      viewStore.setState({ theme: s.config.theme || "system", look: s.config.look ?? null });
      chooseKeys(s.config.keys ?? {});
      deliver(waiting);
      void resend();
    } catch (err) {
      if (run !== snapshotRun) return;
      const f = toFailure(err);
      if (f.code !== OFFLINE && f.code !== DENIED) connectionStore.setState({ snapshotFailure: f });
    }
  }

  /** Loads everything again, after a reset or a gap in the numbers. */
  async function resyncAll() {
    await snapshot();
    for (const id of Object.keys(timelinesStore.getState())) {
      if (id === viewStore.getState().selected) void load(id);
      else timelinesStore.setState((all) => omit(all, id), true);
    }
  }

  // Streamed pieces come faster than frames, so the page applies them once per frame. A
  // hidden page gets no frames and uses a timer.
  let arrived: LoopEvent[] = [];
  function collect(batch: LoopEvent[]) {
    if (arrived.length === 0) {
      if (document.hidden) setTimeout(flush, HIDDEN_MS);
      else requestAnimationFrame(flush);
      clearTimeout(backstop);
      backstop = setTimeout(flush, HIDDEN_MS * 2);
    }
    arrived.push(...batch);
  }
  let backstop: ReturnType<typeof setTimeout> | undefined;
  function flush() {
    const batch = arrived;
    arrived = [];
    if (batch.length > 0) onBatch(batch);
  }

  function onBatch(batch: LoopEvent[]) {
    if (held) {
      held.push(...batch);
      return;
    }
    const frame = frameStore.getState();
    if (hasGap(frame, batch)) {
      held = [...batch];
      void resyncAll();
      return;
    }
    frameStore.setState(applyEvents(frame, batch));
    deliver(batch);
  }

  function deliver(batch: LoopEvent[]) {
    // The person edited the settings, or another page chose a theme.
    if (batch.some((e) => e.type === "config.changed")) {
      viewStore.setState({ theme: frameStore.getState().config?.theme || "system", look: frameStore.getState().config?.look ?? null });
      chooseKeys(frameStore.getState().config?.keys ?? {});
      void replaced();
    }
    sessionsStore.setState((t) => applyTerminalEvents(t, batch));
    const by = new Map<string, LoopEvent[]>();
    for (const ev of batch) if (ev.channel_id) by.set(ev.channel_id, [...(by.get(ev.channel_id) ?? []), ev]);
    const known: RunID[] = [];
    for (const [id, events] of by) {
      if (timelinesStore.getState()[id]) setTimeline(id, (t) => receive(t, events));
      for (const ev of events) if (ev.run_id) known.push(ev.run_id);
      if (timelineOf(timelinesStore.getState(), id).stale) heal(id);
      if (events.some((e) => e.type === "channel.deleted") && viewStore.getState().selected === id) viewStore.setState({ selected: "" });
    }
    setLetters(outbox.settle(outboxStore.getState().letters, known));
    for (const f of batchListeners) f(batch);
  }

  /** Where a channel's runs work may be another place after the settings have changed. */
  async function replaced() {
    try {
      const { channels } = await api.system.snapshot();
      frameStore.setState((f) => ({ channels: placedAs(f.channels, channels ?? []) }));
    } catch (err) {
      connectionStore.setState({ snapshotFailure: toFailure(err) });
    }
  }

  function heal(id: string) {
    clearTimeout(resync);
    resync = setTimeout(() => void load(id), RESYNC_MS);
  }

  async function load(id: string) {
    setTimeline(id, startLoading);
    if (!timelinesStore.getState()[id]) timelinesStore.setState({ [id]: startLoading(timelineOf({}, id)) });
    try {
      const page = await api.channels.timeline(id, 0, PAGE);
      setTimeline(id, (t) => loaded(t, page, Date.now()));
      setLetters(outbox.settle(outboxStore.getState().letters, [
        ...(page.queue ?? []).map((r) => r.run_id),
        ...(page.events ?? []).map((e) => e.run_id ?? ""),
      ]));
    } catch (err) {
      setTimeline(id, (t) => loadFailed(t, toFailure(err)));
    }
  }

  async function loadOlder(id: string, size = PAGE) {
    const t = timelineOf(timelinesStore.getState(), id);
    const first = t.events[0]?.id;
    if (t.loadingOlder || !t.hasMore || !first) return;
    setTimeline(id, (x) => ({ ...x, loadingOlder: true, olderFailure: null }));
    try {
      const page = await api.channels.timeline(id, first, size);
      setTimeline(id, (x) => olderLoaded(x, page));
    } catch (err) {
      setTimeline(id, (x) => ({ ...x, loadingOlder: false, olderFailure: toFailure(err) }));
    }
  }

  /** Loads a timeline as far back as an event. False: that could not be loaded. */
  async function reach(id: string, event: number): Promise<boolean> {
    const now = () => timelineOf(timelinesStore.getState(), id);
    if (now().phase !== "ready") await load(id);
    while (now().loadingOlder) await new Promise((r) => setTimeout(r, 50));
    let first = now().events[0]?.id ?? 0;
    if (now().seen.has(event) || first <= event) return now().phase === "ready";
    if (!now().hasMore) return false;
    setTimeline(id, (x) => ({ ...x, loadingOlder: true, olderFailure: null }));
    const events: LoopEvent[] = []; // put before the others at once: each time, all rows are made anew
    try {
      let page: TimelinePage;
      do {
        page = await api.channels.timeline(id, first, FAR_PAGE);
        events.unshift(...(page.events ?? []));
        first = events[0]?.id ?? 0;
      } while (page.has_more && page.events?.length && first > event);
      setTimeline(id, (x) => olderLoaded(x, { ...page, events }));
    } catch (err) {
      setTimeline(id, (x) => ({ ...x, loadingOlder: false, olderFailure: toFailure(err) }));
      return false;
    }
    return (now().events[0]?.id ?? Infinity) <= event;
  }

  function setLetters(letters: outbox.Outbox) {
    if (letters === outboxStore.getState().letters) return;
    outboxStore.setState({ letters });
    saveChoice("outbox", letters.length > 0 ? JSON.stringify(letters) : "");
  }

  async function deliverLetter(letter: outbox.Letter) {
    setLetters(outbox.put(outboxStore.getState().letters, { ...letter, state: "sending", failure: null }));
    try {
      const run = await api.runs.prompt({ ...letter.options, client_id: letter.clientId, channel_id: letter.channelId, prompt: letter.prompt });
      setLetters(outbox.confirmed(outboxStore.getState().letters, letter.clientId));
      const asked = run?.waits_for?.question_id;
      if (asked) announce("The prompt is queued. It waits until you have answered the agent.");
      // The answer has the same run as the event, which may still be on its way.
      if (run?.state === "queued") setTimeline(letter.channelId, (t) => receive(t, [localQueueEvent(run, t.built.runs)]));
    } catch (err) {
      setLetters(outbox.failed(outboxStore.getState().letters, letter.clientId, toFailure(err)));
    }
  }

  /** Sends again the prompts that failed only because Loop did not answer. */
  async function resend() {
    for (const { clientId } of outboxStore.getState().letters) {
      const l = outboxStore.getState().letters.find((x) => x.clientId === clientId);
      if (!l) continue; // the person took it back while another was sent
      if (l.state === "failed" && l.failure?.code !== OFFLINE) continue;
      await deliverLetter(l);
    }
  }

  async function doctor() {
    if (doctorStore.getState().phase === "running") return;
    doctorStore.setState({ phase: "running", failure: null });
    try {
      const report = await api.system.doctor();
      doctorStore.setState({ phase: "done", report, at: Date.now() });
    } catch (err) {
      doctorStore.setState({ phase: "error", failure: toFailure(err), at: Date.now() });
    }
  }

  bridge.onEvents(collect);
  bridge.resumeAt(() => {
    const { ready, launch, seq } = frameStore.getState();
    // Events that wait for the next frame count as not seen. Events are safe to apply
    // twice, and numbers already applied are skipped.
    return ready && launch ? { launch, seq } : null;
  });
  bridge.onLink((link) => {
    connectionStore.setState(link);
    if (link.state !== "online") return;
    void send();
    // After a break the stream goes on where it was. If it cannot, it sends a reset.
    if (frameStore.getState().ready && !held) void resend();
    else void snapshot();
    const { selected } = viewStore.getState();
    if (timelineOf(timelinesStore.getState(), selected).stale) void load(selected);
  });

  const made = {
    api, load, loadOlder, reach, deliverLetter, doctor, refresh: resyncAll,
    kind: bridge.kind,
    reconnect: () => bridge.reconnect(),
    endpoint: () => bridge.endpoint(),
    dropLetter: (clientId: string) => setLetters(outbox.confirmed(outboxStore.getState().letters, clientId)),
  };
  current = made;
  return made;
}

function localQueueEvent(run: Run, runs: Record<string, unknown>): LoopEvent {
  // A late answer must not put a run that has begun back into the queue.
  const data: Run = runs[run.run_id] ? { ...run, state: "running" } : run;
  return { seq: 0, type: "queue.changed", channel_id: run.channel_id, run_id: run.run_id, timestamp: Date.now(), data };
}

function omit<T>(all: Record<string, T>, id: string): Record<string, T> {
  const { [id]: _gone, ...rest } = all;
  return rest;
}
