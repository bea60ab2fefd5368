import type { DragEvent, RefObject } from "react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { mayBringFiles, runtimeTells } from "../model/files";
import { dropsComeFromHost, onHostDrop } from "../shell/drops";
import type { Dropped } from "./bring";
import { droppedData } from "./bring";

/**
 * Makes an element a place to drop files on. over: something is dragged above it
 * that it would take. With text it takes everything else, too.
 */
export function useFileDrop(at: RefObject<HTMLElement | null>, onDrop: (d: Dropped) => void, text = false) {
  const [over, setOver] = useState(false);
  const latest = useRef(onDrop);
  const last = useRef<EventTarget | null>(null); // what was entered last
  useLayoutEffect(() => {
    latest.current = onDrop;
  });
  useEffect(() => onHostDrop(({ x, y, paths }) => {
    setOver(false);
    // By what is seen there: a dialog above the element keeps the drop from it.
    if (paths.length > 0 && at.current?.contains(document.elementFromPoint(x, y))) latest.current({ paths, files: [], text: "" });
  }), [at]);
  // What was entered last may be gone by the time it would be left, as rows of a
  // terminal are: then it is over when the drag is elsewhere, or the pointer free.
  useEffect(() => {
    if (!over) return;
    const off = (e: Event) => e.type.startsWith("drag") && at.current?.contains(e.target as Node) || setOver(false);
    window.addEventListener("dragenter", off);
    window.addEventListener("dragover", off);
    window.addEventListener("pointermove", off);
    return () => {
      window.removeEventListener("dragenter", off);
      window.removeEventListener("dragover", off);
      window.removeEventListener("pointermove", off);
    };
  }, [over, at]);
  const takes = (e: DragEvent) => text || mayBringFiles(e.dataTransfer.types);
  // WebKit sends no dragover when an element is entered, none while the pointer
  // rests, and a drop is ours only if the last event was taken.
  const onOver = (e: DragEvent) => {
    if (!takes(e)) return;
    e.preventDefault();
    setOver(true);
  };
  return {
    over,
    handlers: {
      onDragEnter(e: DragEvent) {
        last.current = e.target;
        onOver(e);
      },
      onDragOver: onOver,
      // The next element is entered before this one is left, so the one that was
      // entered last is left only with all of them. WebKit does not say where to.
      onDragLeave(e: DragEvent) {
        if (e.target === last.current || !e.currentTarget.contains(last.current as Node | null)) setOver(false);
      },
      onDrop(e: DragEvent) {
        setOver(false);
        if (!takes(e)) return;
        e.preventDefault();
        if (dropsComeFromHost() && runtimeTells(e.dataTransfer.types, e.dataTransfer.getData("text/uri-list"))) return;
        latest.current(droppedData(e.dataTransfer));
      },
    },
  };
}
