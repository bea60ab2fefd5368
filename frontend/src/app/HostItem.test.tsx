import { renderToString } from "react-dom/server";
import { expect, it, vi } from "vitest";
import type { ChannelView, GateStatus, LoopEvent } from "../api/types";
import { applyEvents, emptyFrame } from "../model/frame";
import { HOST_TEXT, placedAs, withoutGate } from "../model/onhost";
import { HostItem } from "./HostItem";

vi.mock("../session/actions", () => ({ openDialog: () => undefined }));

const channel = { channel_id: "c", kind: "project", name: "c", dir: "/c", created_at: "", state: "idle", queued: 0, last_event_id: 0 } as ChannelView;
const event = (type: string, data: unknown, seq: number) => ({ type, data, seq, channel_id: "c", run_id: "r", timestamp: 1 }) as unknown as LoopEvent;

it("says in words, and to those who do not see it, what does not hold", () => {
  const html = renderToString(<HostItem />);
  expect(html).toContain(`>${HOST_TEXT}<`);
  for (const attribute of ["title", "aria-label"]) {
    const said = new RegExp(`${attribute}="([^"]*)"`).exec(html)?.[1] ?? "";
    for (const word of ["gate holds nothing", "planning is not enforced", "browser is not kept apart"]) expect(said).toContain(word);
  }
  expect(html).toContain('aria-hidden="true"');
});

it("does not show the gate as holding where it cannot", () => {
  const gate = { state: "on", text: "Gate on", probed: "2026-01-01T00:00:00Z" } as GateStatus;
  expect(withoutGate(gate, channel)).toBe(gate);
  expect(withoutGate(gate, { on_host: true })).toMatchObject({ state: "off", probed: "" });
  expect(withoutGate(null, { on_host: true })).toBeNull();
});

it("keeps the channel's place over its changes, and learns it from a run", () => {
  let f = { ...emptyFrame, channels: [{ ...channel, on_host: true }] };
  f = applyEvents(f, [event("channel.updated", { ...channel, name: "new", state: undefined }, 1)]);
  expect(f.channels[0]).toMatchObject({ name: "new", on_host: true });
  f = { ...f, channels: [channel] };
  f = applyEvents(f, [event("agent.status", { status: "running", state: "running", on_host: true }, 2)]);
  expect(f.channels[0]?.on_host).toBe(true);
});

it("takes over the places that were read again, and leaves the rest", () => {
  const other = { ...channel, channel_id: "d" };
  const placed = placedAs([{ ...channel, state: "working" }, other], [{ ...channel, on_host: true }, other]);
  expect(placed).toEqual([{ ...channel, state: "working", on_host: true }, other]);
  expect(placed[1]).toBe(other);
  expect(placedAs(placed, [channel, other])[0]?.on_host).toBe(false);
});
