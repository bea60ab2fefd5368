import { useEffect } from "react";
import { useStore } from "zustand";
import { viewStore } from "../model/stores";

/** Puts theme and contrast on the document. “system” takes the system's present choice. */
export function applyTheme(theme: string, contrast: string) {
  const light = matchMedia("(prefers-color-scheme: light)").matches;
  const more = matchMedia("(prefers-contrast: more)").matches;
  const root = document.documentElement;
  root.dataset.theme = theme === "light" || theme === "dark" ? theme : light ? "light" : "dark";
  if (contrast === "more" || theme === "contrast" || more) root.dataset.contrast = "more";
  else delete root.dataset.contrast;
}

export function useTheme() {
  const theme = useStore(viewStore, (v) => v.theme);
  const contrast = useStore(viewStore, (v) => v.contrast);
  useEffect(() => {
    const apply = () => applyTheme(theme, contrast);
    apply();
    const queries = [matchMedia("(prefers-color-scheme: light)"), matchMedia("(prefers-contrast: more)")];
    for (const q of queries) q.addEventListener("change", apply);
    return () => {
      for (const q of queries) q.removeEventListener("change", apply);
    };
  }, [theme, contrast]);
}
