import type { DragEvent, RefObject } from "react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { mayBringFiles, runtimeTells } from "../model/files";
import { dropsComeFromHost, onHostDrop } from "../shell/drops";
import type { Dropped } from "./bring";
import { droppedData } from "./bring";

/**
 * Makes an element a place to drop files on. over is true while a drag that it would
 * take is above it. With text it takes any other drag as well.
 */
export function useFileDrop(at: RefObject<HTMLElement | null>, onDrop: (d: Dropped) => void, text = false) {
  const [over, setOver] = useState(false);
  const latest = useRef(onDrop);
  const last = useRef<EventTarget | null>(null); // the element that was entered last
  useLayoutEffect(() => {
    latest.current = onDrop;
  });
  useEffect(() => onHostDrop(({ x, y, paths }) => {
    setOver(false);
    // The visible element at the point decides, so a dialog above keeps the drop from this one.
    if (paths.length > 0 && at.current?.contains(document.elementFromPoint(x, y))) latest.current({ paths, files: [], text: "" });
  }), [at]);
  // The element entered last may vanish before it is left, as rows of a terminal do. Then the
  // drag counts as gone once it is elsewhere, or once the pointer moves freely.
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
  // WebKit sends no dragover when an element is entered, and none while the pointer rests.
  // The page gets a drop only if it took the last event, so dragenter counts like dragover.
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
      // An element within is entered before the earlier one is left. So the drag has left all
      // of them only when the one entered last is left. WebKit does not report the next target.
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
