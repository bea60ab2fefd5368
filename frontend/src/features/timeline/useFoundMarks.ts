import type { RefObject } from "react";
import { useEffect } from "react";
import { useStore } from "zustand";
import type { ChannelID } from "../../api/types";
import { findStore, stretches, wordsOf } from "../../model/find";

const NAME = "loop-found";
const MOST = 500; // places that are marked at once

/** Marks the words of the search in the rows that are drawn, without a change of their elements. */
export function useFoundMarks(channelId: ChannelID, scroller: RefObject<HTMLElement | null>) {
  const words = useStore(findStore, (f) => (f.bar > 0 && f.channel === channelId && f.found.length > 0 ? f.words : ""));
  useEffect(() => {
    const el = scroller.current;
    if (!words || !el || !("highlights" in CSS)) return; // older engines show the row without marks
    const all = wordsOf(words);
    let frame = 0;
    const mark = () => {
      frame = 0;
      const ranges: Range[] = [];
      const walk = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
      while (ranges.length < MOST && walk.nextNode()) {
        const node = walk.currentNode;
        for (const s of stretches(node.nodeValue ?? "", all, MOST)) {
          const r = new Range();
          r.setStart(node, s.from);
          r.setEnd(node, s.to);
          ranges.push(r);
        }
      }
      CSS.highlights.set(NAME, new Highlight(...ranges));
    };
    const soon = () => {
      frame ||= requestAnimationFrame(mark);
    };
    const changes = new MutationObserver(soon);
    changes.observe(el, { childList: true, subtree: true, characterData: true });
    mark();
    return () => {
      changes.disconnect();
      cancelAnimationFrame(frame);
      CSS.highlights.delete(NAME);
    };
  }, [words, scroller]);
}
