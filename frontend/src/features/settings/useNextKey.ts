import { useEffect, useEffectEvent } from "react";
import type { Chord, Platform } from "../../model/keys/chord";
import { chordOf } from "../../model/keys/chord";

type Takes = { cancel(): void; remove(): void; key(c: Chord | null): void };

const MODIFIERS = ["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "NumLock", "ScrollLock", "Fn", "Hyper", "Super", "OS"];

/** Whether a press of the mouse there ends the wait: the button that waits, with data-waits, ends it by its click. */
export const endsWait = (at: EventTarget | null): boolean => !(at instanceof Element && at.closest("[data-waits]"));

/** While it waits, the next key is a choice and nothing else: no dialog closes by it and no shortcut runs. */
export function useNextKey(waits: boolean, platform: Platform, takes: Takes) {
  const onKey = useEffectEvent((e: KeyboardEvent) => {
    if (e.isComposing || e.keyCode === 229) return;
    e.preventDefault();
    e.stopImmediatePropagation();
    if (e.type !== "keydown" || e.repeat || MODIFIERS.includes(e.key)) return;
    const bare = !e.ctrlKey && !e.altKey && !e.metaKey && !e.shiftKey;
    if (bare && e.key === "Escape") takes.cancel();
    else if (bare && e.key === "Backspace") takes.remove();
    else takes.key(e.getModifierState("AltGraph") && e.ctrlKey ? null : chordOf(e, platform === "mac"));
  });
  const onPress = useEffectEvent((e: Event) => endsWait(e.target) && takes.cancel());
  useEffect(() => {
    if (!waits) return;
    const key = (e: KeyboardEvent) => onKey(e);
    const press = (e: Event) => void onPress(e);
    window.addEventListener("keydown", key, true);
    window.addEventListener("keyup", key, true);
    window.addEventListener("pointerdown", press, true);
    window.addEventListener("blur", press);
    return () => {
      window.removeEventListener("keydown", key, true);
      window.removeEventListener("keyup", key, true);
      window.removeEventListener("pointerdown", press, true);
      window.removeEventListener("blur", press);
    };
  }, [waits]);
}
