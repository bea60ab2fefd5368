import type { RefObject } from "react";
import { useEffect } from "react";
import type { ChannelID, LoopEvent } from "../api/types";
import { batchListeners } from "../model/stores";

const seen = (el: HTMLElement | null) => document.visibilityState === "visible" && el !== null && getComputedStyle(el).visibility === "visible";

/**
 * Has a panel read again what its channel's agents may have changed: ms after events of these
 * kinds, several at once, and not before the panel is in sight. Behind another tab it costs nothing.
 */
export function useNews(channelId: ChannelID, panel: RefObject<HTMLElement | null>, kinds: ReadonlySet<string>, ms: number, read: () => void) {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = () => {
      timer = setTimeout(() => {
        timer = undefined;
        if (seen(panel.current)) read();
        else wait();
      }, ms);
    };
    const news = (batch: LoopEvent[]) => {
      if (!timer && batch.some((e) => e.channel_id === channelId && kinds.has(e.type))) wait();
    };
    batchListeners.add(news);
    return () => {
      clearTimeout(timer);
      batchListeners.delete(news);
    };
  }, [channelId, panel, kinds, ms, read]);
}
