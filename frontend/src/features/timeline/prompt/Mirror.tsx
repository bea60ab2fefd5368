import type { RefObject } from "react";
import { useLayoutEffect, useRef } from "react";
import type { Stretch } from "../../../model/mention";

type Props = { parts: Stretch[]; typedAt: number; box: RefObject<HTMLTextAreaElement | null> };

/** The prompt's text behind its box, letter by letter in the same place, with its mentions tinted. It scrolls with the box. */
export function Mirror({ parts, typedAt, box }: Props) {
  const layer = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const [el, to] = [box.current, layer.current];
    if (!el || !to) return;
    const follow = () => { to.scrollTop = el.scrollTop; };
    follow();
    el.addEventListener("scroll", follow);
    return () => el.removeEventListener("scroll", follow);
  }, [box, parts]);
  return (
    <div className="prompt-mirror" dir="auto" aria-hidden ref={layer}>
      {parts.map((p) => (p.mention ? <mark key={p.from} className={p.from === typedAt ? "prompt-typed" : undefined}>{p.text}</mark> : <span key={p.from}>{p.text}</span>))}
      {"\u200b"}
    </div>
  );
}
