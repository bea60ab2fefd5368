import type { TextSizes } from "../api/types";

/** What the page is drawn for, in px: a part at this size is as the styles have it. */
const DRAWN: TextSizes = { sidebar: 12, chat: 13, editor: 13, panels: 12 };
const [MIN, MAX] = [8, 40]; // as the settings have it

/** How much larger the text of each part is than drawn. A size that is none changes nothing. */
export function textScales(sizes: Partial<TextSizes> | undefined): Record<keyof TextSizes, number> {
  const scale = (part: keyof TextSizes) => {
    const px = sizes?.[part];
    return typeof px === "number" && px > 0 ? Math.min(MAX, Math.max(MIN, px)) / DRAWN[part] : 1;
  };
  return { sidebar: scale("sidebar"), chat: scale("chat"), editor: scale("editor"), panels: scale("panels") };
}
