// Bytes as calls carry them, and as text.
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

/** The text of bytes in UTF-8; null if they are no such text. The last character of a part may be cut in two, which is left out. */
export function textOf(bytes: Uint8Array, whole: boolean): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !whole });
  } catch {
    return null;
  }
}
