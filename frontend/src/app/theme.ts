import { useEffect } from "react";
import { useStore } from "zustand";
import type { Theme } from "../api/types";
import { viewStore } from "../model/stores";
import { lookOf, ruleOf } from "../model/theme";
import { saveChoice } from "../shell/memory";

/** Puts theme and contrast on the document. “system” takes the system's present choice, and so does an imported theme with two looks. */
export function applyTheme(theme: string, contrast: string, own: Theme | null = null) {
  const light = matchMedia("(prefers-color-scheme: light)").matches;
  const more = contrast === "more" || theme === "contrast" || matchMedia("(prefers-contrast: more)").matches;
  const root = document.documentElement;
  const look = own?.name === theme ? lookOf(own, light) : undefined;
  // More contrast than a theme promises has only Loop's own look of its kind.
  wear(look && !more ? ruleOf(look) : "");
  if (look && !more) root.dataset.ownTheme = `${theme} ${look.dark ? "dark" : "light"}`;
  else delete root.dataset.ownTheme;
  root.dataset.theme = look ? (look.dark ? "dark" : "light") : theme === "light" || theme === "dark" ? theme : light ? "light" : "dark";
  if (more) root.dataset.contrast = "more";
  else delete root.dataset.contrast;
}

function wear(rule: string) {
  const id = "own-theme";
  const have = document.getElementById(id);
  if (!rule) return have?.remove();
  const style = have ?? document.head.appendChild(Object.assign(document.createElement("style"), { id }));
  if (style.textContent !== rule) style.textContent = rule;
}

export function useTheme() {
  const theme = useStore(viewStore, (v) => v.theme);
  const contrast = useStore(viewStore, (v) => v.contrast);
  const look = useStore(viewStore, (v) => v.look);
  useEffect(() => {
    const apply = () => applyTheme(theme, contrast, look);
    apply();
    saveChoice("theme", theme);
    saveChoice("look", look ? JSON.stringify(look) : ""); // for the first paint of the next start
    const queries = [matchMedia("(prefers-color-scheme: light)"), matchMedia("(prefers-contrast: more)")];
    for (const q of queries) q.addEventListener("change", apply);
    return () => {
      for (const q of queries) q.removeEventListener("change", apply);
    };
  }, [theme, contrast, look]);
}
