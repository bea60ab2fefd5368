// Opens the review of a channel from anywhere, and keeps the comments that are being gathered.
import type { ChannelID, RunID } from "../api/types";
import { openPanel } from "../dock/dock";
import type { Comment, Shown } from "../model/review";
import { commentsPrompt, commentsStore, readComments, REVIEW_PANEL, reviewStore } from "../model/review";
import { loadChoice, saveChoice } from "../shell/memory";
import { send } from "./actions";
import { openFile } from "./openfile";

/** run: what it has changed; "" is all of the worktree. */
export function openReview(channel: ChannelID, run: RunID = "") {
  show(channel, run ? "run" : "worktree", run);
  openPanel({ kind: REVIEW_PANEL, data: null });
}

/** The review of the channel's last run, whichever it is. */
export function openLastTurn(channel: ChannelID) {
  show(channel, "turn", "");
  openPanel({ kind: REVIEW_PANEL, data: null });
}

export function show(channel: ChannelID, shown: Shown, run: RunID = reviewStore.getState()[channel]?.run ?? "") {
  reviewStore.setState((all) => ({ [channel]: { shown, run, visit: (all[channel]?.visit ?? 0) + 1 } }));
}

/** Looks into a file of the channel's folder in the panel of its files. */
export function openInFiles(channel: ChannelID, path: string) {
  void openFile(channel, { path, line: 0 });
}

const typed = new Map<ChannelID, string>();

/** The text of a comment that is being written, until it is added or cancelled, whatever becomes of its line. */
export const typedComment = (channel: ChannelID): string => typed.get(channel) ?? "";
export const typeComment = (channel: ChannelID, text: string) => void typed.set(channel, text);

const NONE: Comment[] = [];
const known = new Set<ChannelID>();

export function commentsOf(all: Record<ChannelID, Comment[]>, channel: ChannelID): Comment[] {
  return all[channel] ?? NONE;
}

/** Takes the comments that an earlier visit kept. */
export function recallComments(channel: ChannelID) {
  if (known.has(channel)) return;
  known.add(channel);
  const kept = readComments(loadChoice(`review.${channel}`));
  if (kept.length > 0) commentsStore.setState((all) => ({ [channel]: [...kept, ...(all[channel] ?? [])] }));
}

export function setComments(channel: ChannelID, comments: Comment[]) {
  commentsStore.setState({ [channel]: comments });
  saveChoice(`review.${channel}`, comments.length > 0 ? JSON.stringify(comments) : "");
}

/** Sends the gathered comments as one prompt. An unsent one stays in the outbox. */
export function sendComments(channel: ChannelID) {
  const all = commentsOf(commentsStore.getState(), channel);
  if (all.length === 0) return false;
  send(channel, commentsPrompt(all));
  setComments(channel, []);
  return true;
}

/** Whether changes are shown side by side where there is room. */
export const isSplit = (): boolean => loadChoice("review.split") !== "no";
export const keepSplit = (split: boolean) => saveChoice("review.split", split ? "" : "no");
