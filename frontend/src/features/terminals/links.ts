// Links in output. A hint shows the real target. Ctrl or Command with a click follows it, as far as
// Loop opens such targets; with Alt as well a file opens in the person's editor.
import { WebLinksAddon } from "@xterm/addon-web-links";
import type { ILinkHandler, Terminal } from "@xterm/xterm";
import type { Target } from "../../session/linktargets";
import { targetOf, targetWords } from "../../session/linktargets";
import type { LinkHint } from "../../model/terminals/filelinks";
import { cleanTitle } from "../../model/terminals/titles";
import { addFileLinks } from "./filelinks";

export type Follow = (t: Target, edit: boolean) => void;

export function linkHandler(mac: boolean, follow: Follow, hint: (h: LinkHint) => void): ILinkHandler {
  const show = (e: MouseEvent, text: string) => {
    const target = targetOf(text);
    hint({ x: e.clientX, y: e.clientY, target: target ? cleanTitle(targetWords(target)) : text, allowed: target !== null, ...(target?.kind === "file" ? { file: true } : {}) });
  };
  return {
    allowNonHttpProtocols: true, // so that the hint shows their targets; a click on them is refused here
    activate(e, text) {
      const target = targetOf(text);
      if (!target) return show(e, text);
      if (mac ? e.metaKey : e.ctrlKey) {
        hint(null);
        follow(target, e.altKey);
      }
    },
    hover: show,
    leave: () => hint(null),
  };
}

export function addLinks(term: Terminal, mac: boolean, handler: ILinkHandler, follow: Follow, hint: (h: LinkHint) => void) {
  addFileLinks(term, mac, (file, edit) => follow({ kind: "file", file }, edit), hint);
  const range = { start: { x: 1, y: 1 }, end: { x: 1, y: 1 } };
  term.loadAddon(new WebLinksAddon((e, uri) => handler.activate(e, uri, range), {
    hover: (e, uri) => handler.hover?.(e, uri, range),
    leave: (e, uri) => handler.leave?.(e, uri, range),
  }));
}

const NOTE_PX = 320; // the width of the hint below a link

/** A link with its place in the pane, moved so that its hint has room. */
export function inside(host: HTMLElement, link: NonNullable<LinkHint>): LinkHint {
  const r = host.getBoundingClientRect();
  return { ...link, x: Math.max(4, Math.min(link.x - r.left, r.width - NOTE_PX)), y: link.y - r.top };
}
