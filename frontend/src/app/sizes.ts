import { useEffect } from "react";
import { useStore } from "zustand";
import { textScales } from "../model/sizes";
import { frameStore } from "../model/stores";

/** Puts the text sizes of the settings on the document, for styles/tokens.css. */
export function useTextSizes() {
  const sizes = useStore(frameStore, (f) => f.config?.text);
  useEffect(() => {
    for (const [part, scale] of Object.entries(textScales(sizes))) document.documentElement.style.setProperty(`--scale-${part}`, String(scale));
  }, [sizes]);
}
