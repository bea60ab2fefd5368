// A mock of Loop behind the bridge, for unit tests.
import type { LoopEvent } from "../api/types";
import type { Bridge, LinkState, Position } from "../shell/bridge";

export type Answer = (...args: never[]) => unknown;

export const failure = (code: string, cause = `no: ${code}`) => ({ code, cause, remedy: "" });

export const channel = (id: string, more: object = {}) => ({ channel_id: id, name: id, dir: `/src/${id}`, kind: "project", state: "idle", queued: 0, last_event_id: 0, ...more });

export const snapshot = (more: object = {}) => ({
  seq: 10, launch: "one", version: "1", mode: "headless", engine: null, image: null, channels: [channel("a"), channel("b")], containers: [],
  config: { theme: "dark" }, cost_today: { day: "", usd: 0 }, gate: "", max_runs: 3, ...more,
});

export const page = (more: object = {}) => ({ events: [], queue: [], has_more: false, live: null, ...more });

/** answers has the answers of calls by name, as in "System.Snapshot". A call without an answer rejects. */
export function pretendLoop(answers: Record<string, Answer> = {}, kind: Bridge["kind"] = "headless") {
  const given: Record<string, Answer> = {
    "System.Snapshot": () => snapshot(), "Runs.Questions": () => [], "Terminals.List": () => [], "Channels.Timeline": () => page(),
    "System.Keep": () => null, ...answers,
  };
  const calls: { name: string; args: unknown[] }[] = [];
  let events: (batch: LoopEvent[]) => void = () => undefined;
  let link: (l: LinkState) => void = () => undefined;
  let where: () => Position | null = () => null;
  const bridge: Bridge = {
    kind,
    async invoke(service, method, args) {
      const name = `${service}.${method}`;
      calls.push({ name, args });
      const answer = given[name];
      if (!answer) throw failure("no_method", name);
      return answer(...(args as never[]));
    },
    onEvents: (f) => {
      events = f;
      return () => undefined;
    },
    onLink: (f) => {
      link = f;
      return () => undefined;
    },
    onAsk: () => undefined,
    reconnect: () => undefined,
    endpoint: async () => ({ base: "http://127.0.0.1/", token: "t" }),
    resumeAt: (f) => void (where = f),
  };
  return {
    bridge, calls, given,
    called: (name: string) => calls.filter((c) => c.name === name).map((c) => c.args),
    link: (l: LinkState) => link(l),
    /** Sends events with numbers in order, beginning at seq. */
    emit: (seq: number, ...batch: (Partial<LoopEvent> & { type: string })[]) => events(batch.map((e, i) => ({ seq: seq + i, timestamp: 1, ...e }) as LoopEvent)),
    position: () => where(),
  };
}
