// Web addresses in agent text.

function parse(href: string): URL | null {
  try {
    return new URL(href);
  } catch {
    return null;
  }
}

export function webAddress(href = ""): string {
  const u = parse(href);
  return u?.protocol === "http:" || u?.protocol === "https:" ? u.href : "";
}

// An address with its scheme or “www.” anywhere in a text, or a text that is nothing but an address.
const IN_TEXT = /https?:\/\/\S+|\bwww\.\S+/i;
// No part of it repeats within another: an agent could write what takes such a pattern for ever.
const ALONE = /^[^\s/?#@:]+\.\p{L}{2,}(?:[/?#:]\S*)?$/u;

const bare = (host: string) => host.replace(/^www\./, "");

/** The host of a link's target, if the link's text looks like an address of another host; else "". */
export function hostBehind(text: string, url: string): string {
  const said = IN_TEXT.exec(text)?.[0] ?? ALONE.exec(text.trim())?.[0];
  if (!said) return "";
  const target = new URL(url);
  const shown = parse(/^https?:/i.test(said) ? said : `https://${said}`);
  return shown && bare(shown.hostname) === bare(target.hostname) ? "" : target.host;
}
