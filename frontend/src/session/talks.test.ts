import "../test/browser";
import { beforeEach, expect, it } from "vitest";
import type { ChannelView, TerminalTalk } from "../api/types";
import { frameStore, viewStore } from "../model/stores";
import { wishesStore } from "../model/wish";
import { channel, pretendLoop } from "../test/loop";
import { setWish, wishIn } from "./drafts";
import { startSession } from "./session";
import { goOnWithTalk } from "./talks";

const talk = { channel_id: "a", session_id: "s" } as unknown as TerminalTalk;

beforeEach(() => setWish("a", { fresh: false }));

it.each([
  ["the channel's own", { session_id: "s" }, false, false],
  ["another than the channel's", { session_id: "t" }, false, true],
  ["a new one comes next", { session_id: "s", next_session: { mode: "fresh" } }, false, true],
  ["an earlier one comes next", { session_id: "s", next_session: { mode: "resume", session_id: "t" } }, false, true],
  ["the prompt wishes a new one", { session_id: "s" }, true, true],
])("going on with a talk: %s", async (_, more, fresh, asks) => {
  const l = pretendLoop({ "Channels.SetSession": () => channel("a", { session_id: "s" }) });
  startSession(l.bridge);
  frameStore.setState({ channels: [channel("a", more) as unknown as ChannelView] });
  setWish("a", { fresh });
  await goOnWithTalk(talk);
  expect(l.called("Channels.SetSession")).toEqual(asks ? [["a", { mode: "resume", session_id: "s" }]] : []);
  expect(wishIn(wishesStore.getState(), "a").fresh).toBe(false);
  expect(viewStore.getState().toast?.text).toContain("goes on with that conversation");
});
