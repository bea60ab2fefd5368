// Text that programs put on the clipboard (OSC 52). It is bounded, and a notice tells the
// person. Programs may never read the clipboard.

/** The most bytes of decoded text. */
export const MAX_OSC52 = 100 * 1024;

export type Osc52 =
  | { kind: "write"; text: string; primary: boolean }
  | { kind: "read" }
  | { kind: "clear" }
  | { kind: "too-long"; bytes: number }
  | { kind: "bad" };

export function parseOsc52(data: string): Osc52 {
  const at = data.indexOf(";");
  if (at < 0) return { kind: "bad" };
  const selection = data.slice(0, at);
  const body = data.slice(at + 1);
  if (!/^[cpqs0-7]*$/.test(selection)) return { kind: "bad" };
  if (body === "?") return { kind: "read" };
  if (body === "") return { kind: "clear" };
  const bytes = Math.floor((body.replace(/=+$/, "").length * 3) / 4);
  if (bytes > MAX_OSC52) return { kind: "too-long", bytes };
  const text = decode(body);
  if (text === null) return { kind: "bad" };
  return { kind: "write", text, primary: selection.includes("p") && !selection.includes("c") };
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUE = new Map([...ALPHABET].map((c, i) => [c, i]));

function decode(base64: string): string | null {
  const body = base64.replace(/=+$/, "");
  if (body.length % 4 === 1) return null;
  const hex: string[] = [];
  let bits = 0;
  let have = 0;
  for (const c of body) {
    const v = VALUE.get(c);
    if (v === undefined) return null;
    bits = ((bits << 6) | v) & 0xffff;
    have += 6;
    if (have >= 8) {
      have -= 8;
      hex.push(`%${((bits >> have) & 0xff).toString(16).padStart(2, "0")}`);
    }
  }
  try {
    return decodeURIComponent(hex.join(""));
  } catch {
    return null; // not UTF-8
  }
}
