// Links in output. A hint shows the real target. Ctrl or Command with a click opens it, and
// only if it is a web address, as for System.OpenURL. Loop itself shows files.
import { WebLinksAddon } from "@xterm/addon-web-links";
import type { ILinkHandler, Terminal } from "@xterm/xterm";
import type { FileRef, LinkHint } from "../../model/terminals/filelinks";
import { addFileLinks } from "./filelinks";


/** The address if it may be opened, else null. Its host is in ASCII, so that look-alikes show. */
export function linkTarget(text: string): string | null {
  try {
    const u = new URL(text);
    if ((u.protocol === "http:" || u.protocol === "https:") && u.host !== "") return u.href;
  } catch {
    // The text is no address.
  }
  return null;
}

export function linkHandler(mac: boolean, open: (url: string) => void, hint: (h: LinkHint) => void): ILinkHandler {
  const show = (e: MouseEvent, text: string) => {
    const target = linkTarget(text);
    hint({ x: e.clientX, y: e.clientY, target: target ?? text, allowed: target !== null });
  };
  return {
    allowNonHttpProtocols: true, // so that the hint shows their targets; a click on them is refused here
    activate(e, text) {
      const target = linkTarget(text);
      if (!target) return show(e, text);
      if (mac ? e.metaKey : e.ctrlKey) {
        hint(null);
        open(target);
      }
    },
    hover: show,
    leave: () => hint(null),
  };
}

export function addLinks(term: Terminal, mac: boolean, handler: ILinkHandler, openFile: (f: FileRef) => void, hint: (h: LinkHint) => void) {
  addFileLinks(term, mac, openFile, hint);
  const range = { start: { x: 1, y: 1 }, end: { x: 1, y: 1 } };
  term.loadAddon(new WebLinksAddon((e, uri) => handler.activate(e, uri, range), {
    hover: (e, uri) => handler.hover?.(e, uri, range),
    leave: (e, uri) => handler.leave?.(e, uri, range),
  }));
}
