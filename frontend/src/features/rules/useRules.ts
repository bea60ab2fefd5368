import { useCallback, useEffect, useRef, useState } from "react";
import { toFailure } from "../../api/failure";
import type { ChannelID, Failure, GateCall, GateCandidate, GateRuleList, GateRuleMatches, GateSuggestion, GateTry, LoopEvent } from "../../api/types";
import { batchListeners, toast, toastFailure } from "../../model/stores";
import { session } from "../../session/session";

const NEWS_MS = 1500; // hits of several decisions are read at once
const CHANGED = new Set(["gate.rules", "config.changed", "gate.status"]);

/** Reads the rules of a channel, and again when they or their hits have changed. */
export function useRules(channelId: ChannelID) {
  const [list, setList] = useState<GateRuleList | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const asked = useRef(0); // the newest request; the answer of an older one is not shown

  const load = useCallback(async () => {
    const n = ++asked.current;
    try {
      const l = await session().api.gateRules.list(channelId, "");
      if (n !== asked.current) return;
      setList(l);
      setFailure(null);
    } catch (err) {
      if (n === asked.current) setFailure(toFailure(err));
    }
  }, [channelId]);

  /** Makes a change, whose result is the new list. A change that is refused leaves all as it is. */
  const change = useCallback(async (f: () => Promise<GateRuleList>): Promise<GateRuleList | null> => {
    setBusy(true);
    try {
      const l = await f();
      asked.current++;
      setList(l);
      return l;
    } catch (err) {
      toastFailure(err);
      void load(); // it may be another rule by now
      return null;
    } finally {
      setBusy(false);
    }
  }, [load]);

  const undo = useCallback(async (id: string) => {
    if (await change(() => session().api.gateRules.undo(channelId, id))) toast("Undone.");
  }, [change, channelId]);

  useEffect(() => {
    void load();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const news = (batch: LoopEvent[]) => {
      if (batch.some((e) => CHANGED.has(e.type))) return void load();
      if (timer || !batch.some((e) => e.channel_id === channelId && (e.type === "gate.decided" || e.type === "gate.resolved"))) return;
      timer = setTimeout(() => {
        timer = undefined;
        void load();
      }, NEWS_MS);
    };
    batchListeners.add(news);
    return () => {
      clearTimeout(timer);
      batchListeners.delete(news);
    };
  }, [load, channelId]);
  return { list, failure, busy, load, change, undo };
}

const TYPING_MS = 120;

/** What a rule that is being written would match, some time after a key; nothing while that is for another text. */
export function useMatches(channelId: ChannelID, rule: GateCandidate | null, version: string) {
  const [said, setSaid] = useState<{ key: string; matches: GateRuleMatches | null; failure: Failure | null }>({ key: "", matches: null, failure: null });
  const key = rule ? JSON.stringify(rule) : "";
  useEffect(() => {
    let over = false;
    if (!key) return;
    const timer = setTimeout(() => {
      session().api.gateRules.matches(channelId, JSON.parse(key) as GateCandidate)
        .then((matches) => !over && setSaid({ key, matches, failure: null }), (err) => !over && setSaid({ key, matches: null, failure: toFailure(err) }));
    }, TYPING_MS);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [channelId, key, version]);
  return key && said.key === key ? said : { matches: null, failure: null };
}

/** Rules for what was decided by hand, read again with each version of the rules. */
export function useSuggestions(channelId: ChannelID, version: string) {
  const [said, setSaid] = useState<{ list: GateSuggestion[] | null; failure: Failure | null }>({ list: null, failure: null });
  useEffect(() => {
    let over = false;
    if (!version) return;
    session().api.gateRules.suggestions(channelId)
      .then((list) => !over && setSaid({ list: list ?? [], failure: null }), (err) => !over && setSaid({ list: null, failure: toFailure(err) }));
    return () => {
      over = true;
    };
  }, [channelId, version]);
  return said;
}

/** What the rules say of a call, some time after it was typed. version: of the rules; another one asks again. */
export function useTry(channelId: ChannelID, call: GateCall | null, version: string) {
  const [said, setSaid] = useState<{ answer: GateTry | null; failure: Failure | null }>({ answer: null, failure: null });
  const key = call ? JSON.stringify(call) : "";
  useEffect(() => {
    let over = false;
    if (!key) {
      setSaid({ answer: null, failure: null });
      return;
    }
    const timer = setTimeout(() => {
      session().api.gateRules.try({ channel_id: channelId, call: JSON.parse(key) as GateCall })
        .then((answer) => !over && setSaid({ answer, failure: null }), (err) => !over && setSaid({ answer: null, failure: toFailure(err) }));
    }, TYPING_MS);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [channelId, key, version]);
  return said;
}
