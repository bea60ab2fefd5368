// Actions that a person can take from anywhere. The palette, the shortcuts and the buttons share them.
import type { ChannelID, PromptOptions } from "../api/types";
import { toFailure } from "../api/failure";
import { CONTAINERS_PANEL } from "../model/containers";
import { focusGroup } from "../model/dock/layout";
import { draftsStore, frameStore, shownFileStore, timelineOf, timelinesStore, toastFailure, viewStore } from "../model/stores";
import type { Dialog } from "../model/stores";
import { wishesStore } from "../model/wish";
import { channelRows } from "../model/frame";
import { activeRun } from "../model/timeline/state";
import { front } from "../ui/layer";
import { openPanel, revealTimeline } from "../dock/dock";
import { layoutOf } from "../dock/layouts";
import { draftOf, setDraft, setWish, wishIn } from "./drafts";
import { saveChoice } from "../shell/memory";
import { session } from "./session";
import { OWN_THEMES } from "../model/theme";
import { waitsForTrust } from "./trust";

export const DEMO_PROMPT = "Write a small program, run it, and tell me what it printed.";

export function openDialog(dialog: Dialog, channel: ChannelID = "") {
  viewStore.setState({ dialog, dialogChannel: channel, buildFailure: null });
}

export function closeDialog() {
  viewStore.setState({ dialog: "" });
}

/** Has the desktop show no notifications, or show them again. */
export async function setDoNotDisturb(on: boolean) {
  try {
    await session().api.system.setDoNotDisturb(on);
  } catch (err) {
    toastFailure(err);
  }
}

export function select(id: ChannelID) {
  viewStore.setState({ selected: id, page: "" });
  saveChoice("selected", id);
  if (!id) return;
  const t = timelineOf(timelinesStore.getState(), id);
  if (t.phase === "empty" || t.phase === "error" || t.stale) void session().load(id);
  void waitsForTrust(id);
}

/** Moves the keyboard to the prompt box. Only the person's own action may call it. A suggested text is selected, so typing replaces it. */
export function focusPrompt(suggested = "") {
  revealTimeline();
  const focus = () => {
    const box = document.querySelector<HTMLTextAreaElement>("[data-prompt]");
    box?.focus();
    if (suggested && box?.value === suggested) box.select();
  };
  front.after(() => {
    focus();
    requestAnimationFrame(focus); // a newly chosen channel has its box one frame later
  });
}

/** Called before a control acts that then vanishes. What it returns moves the keyboard to the prompt box, unless the person went elsewhere meanwhile. */
export function promptAfter(channelId: ChannelID): () => void {
  const had = document.activeElement;
  return () => {
    if (viewStore.getState().selected === channelId && [had, document.body].includes(document.activeElement)) focusPrompt();
  };
}

export async function openFolder() {
  if (session().kind === "headless") {
    openDialog("folder");
    return;
  }
  try {
    const dir = await session().api.channels.pickFolder();
    if (dir) await addFolder(dir);
  } catch (err) {
    if (toFailure(err).code === "no_native_dialog") openDialog("folder");
    else toastFailure(err);
  }
}

export async function addFolder(dir: string) {
  const ch = await session().api.channels.add(dir, "");
  if (!frameStore.getState().channels.some((c) => c.channel_id === ch.channel_id)) {
    frameStore.setState((f) => ({ channels: [...f.channels, ch] }));
  }
  closeDialog();
  const waits = waitsForTrust(ch.channel_id);
  select(ch.channel_id);
  focusPrompt();
  if (await waits && viewStore.getState().selected === ch.channel_id && !viewStore.getState().dialog) openDialog("settings", ch.channel_id);
}

export async function openDemo() {
  try {
    const ch = await session().api.channels.demo();
    if (!frameStore.getState().channels.some((c) => c.channel_id === ch.channel_id)) {
      frameStore.setState((f) => ({ channels: [...f.channels, ch] }));
    }
    if (!ch.last_event_id && !draftOf(draftsStore.getState(), ch.channel_id)) setDraft(ch.channel_id, DEMO_PROMPT);
    select(ch.channel_id);
    focusPrompt(DEMO_PROMPT);
  } catch (err) {
    toastFailure(err);
  }
}

/** Opens the panel of containers as a tab of its channel, in its full width, or alone where no channel is chosen. */
export function openContainers() {
  if (viewStore.getState().selected) openPanel({ kind: CONTAINERS_PANEL, data: null }, focusGroup(layoutOf(viewStore.getState().selected)).id);
  else viewStore.setState({ page: "containers" });
}

/** Shows a line of a settings file in a dialog. */
export function openFile(channel: ChannelID, path: string, line: number) {
  shownFileStore.setState({ channel, path, line });
  openDialog("file", channel);
}

/** Goes to a neighbour in the sidebar's order. */
export function step(by: number) {
  const { channels } = frameStore.getState();
  const order = [...channelRows(channels).map((r) => r.channel), ...channels.filter((c) => c.kind === "demo")];
  if (order.length === 0) return;
  const at = order.findIndex((c) => c.channel_id === viewStore.getState().selected);
  const next = order[(at + by + order.length) % order.length];
  if (next) select(next.channel_id);
}

export function send(channelId: ChannelID, prompt: string, options: PromptOptions = {}) {
  const text = prompt.trim();
  if (!text) return;
  void session().deliverLetter({ clientId: newId(), channelId, prompt: text, options, at: Date.now(), state: "sending", failure: null });
}

export function newId(): string {
  const b = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(b, (x) => x.toString(16).padStart(2, "0")).join("");
}

const NO_RUN = { code: "no_run", cause: "This page knows of no run under way in this channel.", remedy: "If one goes on here, reload the page and stop it then." };
const stopping = new Set<string>();

export async function stopRun(channelId: ChannelID) {
  const run = activeRun(timelineOf(timelinesStore.getState(), channelId));
  const id = run?.runId ?? frameStore.getState().activeRuns[channelId];
  if (!id) {
    toastFailure(NO_RUN);
    return;
  }
  if (stopping.has(id)) return;
  stopping.add(id);
  try {
    await session().api.runs.cancel(id);
  } catch (err) {
    toastFailure(err);
  } finally {
    stopping.delete(id);
  }
}

const AGAIN_MS = 1000; // the second click of a double click may come after the answer

const retrying = new Set<string>();

export async function retryRun(runId: string) {
  if (retrying.has(runId)) return;
  retrying.add(runId);
  try {
    await session().api.runs.retry(runId);
  } catch (err) {
    toastFailure(err);
  } finally {
    setTimeout(() => retrying.delete(runId), AGAIN_MS);
  }
}

export async function buildImage() {
  openDialog("image");
  try {
    await session().api.system.buildImage();
  } catch (err) {
    if (viewStore.getState().dialog === "image") viewStore.setState({ buildFailure: toFailure(err) });
    else toastFailure(err);
  }
}

export async function cancelBuild() {
  try {
    await session().api.system.cancelImageBuild();
  } catch (err) {
    toastFailure(err);
  }
}

/** Opens a link of agent text. The bridge refuses all but web addresses. */
export function openLink(href: string) {
  session().api.system.openURL(href).catch(toastFailure);
}

export async function setTheme(theme: string) {
  // Loop's answer brings the colours of an imported theme.
  if (OWN_THEMES.some(([id]) => id === theme)) viewStore.setState({ theme, look: null });
  try {
    await session().api.system.setTheme(theme);
  } catch (err) {
    toastFailure(err);
  }
}

export function setContrast(contrast: string) {
  viewStore.setState({ contrast });
  saveChoice("contrast", contrast);
}

/** Has the prompt in the box begin a new conversation, or goes on with the channel's. */
export function toggleFresh(id: ChannelID) {
  setWish(id, { fresh: !wishIn(wishesStore.getState(), id).fresh });
  focusPrompt();
}

export function toggleSidebar() {
  const open = !viewStore.getState().sidebarOpen;
  viewStore.setState({ sidebarOpen: open });
  if (!viewStore.getState().narrow) saveChoice("sidebar", open ? "" : "closed");
}
