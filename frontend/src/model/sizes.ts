import type { TextSizes } from "../api/types";

/** The sizes in px that the styles are written for: a part of this size is not scaled. */
const DRAWN: TextSizes = { sidebar: 12, chat: 13, editor: 13, panels: 12 };
const [MIN, MAX] = [8, 40]; // px, the limits of the settings

/** The factor for the text of each part. A size that is no number leaves its part as it is. */
export function textScales(sizes: Partial<TextSizes> | undefined): Record<keyof TextSizes, number> {
  const scale = (part: keyof TextSizes) => {
    const px = sizes?.[part];
    return typeof px === "number" && px > 0 ? Math.min(MAX, Math.max(MIN, px)) / DRAWN[part] : 1;
  };
  return { sidebar: scale("sidebar"), chat: scale("chat"), editor: scale("editor"), panels: scale("panels") };
}
