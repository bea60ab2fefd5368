// The look of terminals: the settings, and the text size chosen by keys.
import { createStore } from "zustand/vanilla";
import type { TerminalLook } from "../../api/types";
import { frameStore } from "../../model/stores";
import { setOwnColors } from "./colors";
import { loadChoice, recallListeners, saveChoice } from "../../shell/memory";
import type { TerminalSettings } from "./props";
import { DEFAULT_SETTINGS } from "./props";

const MIN = 8;
const MAX = 40; // px, the limit of the setting

/** The px that keys have added to the size of the settings. */
export const zoomStore = createStore<{ by: number }>(kept);

function kept() {
  return { by: Number(loadChoice("terminal.zoom")) || 0 };
}
recallListeners.add(() => zoomStore.setState(kept()));

frameStore.subscribe((f) => setOwnColors(f.config?.terminal?.colors ?? []));

export function terminalSettings(look: TerminalLook | undefined, by: number): TerminalSettings {
  const d = DEFAULT_SETTINGS;
  if (!look) return { ...d, fontSize: size(d.fontSize, by) };
  return {
    ...d, fontFamily: look.font_family, fontSize: size(look.font_size || d.fontSize, by), shiftEnter: look.shift_enter !== "enter",
    bellSound: look.bell === "sound", copyOnSelect: look.copy_on_select, screenReader: look.screen_reader,
    minimumContrast: look.minimum_contrast || d.minimumContrast,
  };
}

export function zoomText(step: 1 | -1 | 0) {
  const by = step === 0 ? 0 : Math.max(MIN - MAX, Math.min(MAX - MIN, zoomStore.getState().by + step));
  zoomStore.setState({ by });
  saveChoice("terminal.zoom", by ? String(by) : "");
}

function size(base: number, by: number) {
  return Math.max(MIN, Math.min(MAX, base + by));
}
