// Files dropped onto the window. The window's own runtime knows their paths; a
// browser knows their content, and file managers may add addresses.

export type Dropped = { paths: string[]; x: number; y: number };

const listeners = new Set<(d: Dropped) => void>();

/** In the window a drop is told by its runtime; the page's own event of it is then not to be used. */
export function dropsComeFromHost(): boolean {
  return Boolean(window.runtime?.OnFileDrop && window.wails?.flags?.enableWailsDragAndDrop);
}

/** Paths dropped onto the native window. Returns how to stop listening; a no-op in a browser. */
export function onHostDrop(listener: (d: Dropped) => void): () => void {
  if (!window.runtime?.OnFileDrop) return () => {};
  if (listeners.size === 0) window.runtime.OnFileDrop((x, y, paths) => listeners.forEach((l) => l({ x, y, paths: paths.filter(Boolean) })), false);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.runtime?.OnFileDropOff?.();
  };
}

/**
 * Keeps a page from being left for what is dropped beside every target. WebKit
 * loads what is dropped although the drop itself is prevented, unless the last
 * event before it was, too: and on a new element that is no dragover.
 */
export function keepPage() {
  for (const type of ["dragenter", "dragover", "drop"]) window.addEventListener(type, (e) => e.preventDefault());
}
