// Files dropped onto the page. The window's own runtime knows their paths. A browser
// knows their content, and file managers may add addresses.

export type Dropped = { paths: string[]; x: number; y: number };

const listeners = new Set<(d: Dropped) => void>();

/** Whether the window's runtime reports drops. The page must then ignore its own event of the same drop. */
export function dropsComeFromHost(): boolean {
  return Boolean(window.runtime?.OnFileDrop && window.wails?.flags?.enableWailsDragAndDrop);
}

/** Gives the listener the paths dropped onto the window. The returned function stops it. A browser never calls the listener. */
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
 * Keeps the browser from leaving the page for a file that is dropped beside every target.
 * WebKit loads the file although the drop is prevented, unless the event before the drop
 * was prevented too. On a newly entered element that is dragenter, not dragover.
 */
export function keepPage() {
  for (const type of ["dragenter", "dragover", "drop"]) window.addEventListener(type, (e) => e.preventDefault());
}
