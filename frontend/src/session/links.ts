// Follows links, wherever they are: in prose, in rows, in terminals.
import type { ChannelID } from "../api/types";
import type { Target } from "./linktargets";
import { parseRunLink } from "../model/playback/runlink";
import { parseRowLink } from "../model/rowlink";
import { openLink } from "./actions";
import { openFile, openInEditor } from "./openfile";
import { followRunLink } from "./playback";
import { followRowLink } from "./rowlink";

/** Goes where a link leads: within Loop, to a file, or to a page in the person's browser. edit: a file opens in the person's editor. */
export function follow(channel: ChannelID, t: Target, edit = false) {
  if (t.kind === "file") return void (edit ? openInEditor : openFile)(channel, t.file);
  const moment = parseRunLink(t.url);
  const item = parseRowLink(t.url);
  if (moment) followRunLink(moment);
  else if (item) void followRowLink(item);
  else openLink(t.url);
}
