import type { RefObject } from "react";
import { useCallback, useEffect, useLayoutEffect, useState } from "react";
import type { TabSize } from "../model/dock/fit";
import { fit, unseen, WHOLE } from "../model/dock/fit";
import type { Group } from "../model/dock/layout";

const WORD_EDGE = 20; // px of a tag besides its text: padding, border and gap
const GAP = 4;
const TOOLS_EDGE = 18;

const START = { ...WHOLE, hidden: 0, more: "" };

/** The whole width of a text, even if little of it has room: the fit must not depend on the present form. */
function textWidth(el: Element): number {
  const range = document.createRange();
  range.selectNodeContents(el);
  return Math.ceil(range.getBoundingClientRect().width);
}

function sizeOf(tab: Element): TabSize {
  const widths = (s: string) => [...tab.querySelectorAll(s)].map(textWidth);
  return {
    name: widths(".dock-name")[0] ?? 0,
    words: widths(".dock-word").reduce((a, b) => a + b + WORD_EDGE, 0),
    marks: tab.querySelectorAll(".dock-mark, .dock-state").length,
    closes: tab.querySelector(".dock-close") !== null,
  };
}

function show(panel: string) {
  document.getElementById(`tab-${panel}`)?.parentElement?.scrollIntoView?.({ block: "nearest", inline: "nearest" });
}

/** The form in which a group's tabs fit its strip, how many are out of sight, and on which sides. */
export function useFit(list: RefObject<HTMLDivElement | null>, group: Group) {
  const [now, setNow] = useState(START);
  const { panels, active } = group;
  const measure = useCallback(() => {
    const el = list.current;
    const strip = el?.parentElement;
    if (!el || !strip || strip.clientWidth === 0) return;
    const tools = [...strip.querySelectorAll<HTMLElement>(".dock-tools > :not(.dock-path, .grow, .dock-plus)")];
    const f = fit(strip.clientWidth, [...el.children].map(sizeOf), panels.indexOf(active), tools.reduce((n, t) => n + t.offsetWidth + GAP, TOOLS_EDGE));
    const edges = [...el.children].map((t) => ({ left: (t as HTMLElement).offsetLeft, right: (t as HTMLElement).offsetLeft + (t as HTMLElement).offsetWidth }));
    const [left, right] = [el.scrollLeft, el.scrollLeft + el.clientWidth];
    const hidden = f.list ? Math.max(1, unseen(edges, left, right)) : 0;
    const more = `${left > 1 ? "left " : ""}${right < el.scrollWidth - 1 ? "right" : ""}`.trim();
    setNow((was) => (JSON.stringify(was) === JSON.stringify({ ...f, hidden, more }) ? was : { ...f, hidden, more }));
  }, [list, panels, active]);

  useEffect(() => {
    const el = list.current;
    if (!el?.parentElement) return;
    const size = new ResizeObserver((all) => {
      measure();
      if (all.some((o) => o.target === el)) show(active); // the strip may have become narrower
    });
    for (const o of [el.parentElement, el, ...el.children]) size.observe(o);
    const text = new MutationObserver(measure); // names without room change too
    text.observe(el, { subtree: true, childList: true, characterData: true });
    el.addEventListener("scroll", measure, { passive: true });
    return () => {
      size.disconnect();
      text.disconnect();
      el.removeEventListener("scroll", measure);
    };
  }, [list, measure, active]);

  useLayoutEffect(measure, [measure]);
  // The tab in front must always be visible.
  useLayoutEffect(() => {
    show(active);
  }, [active, panels, now.form, now.list, now.plus]);
  return now;
}
