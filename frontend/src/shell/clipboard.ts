// Copying goes through the window's own clipboard where there is one: WebKitGTK
// shows or sees only its own copies through navigator.clipboard.
export async function copyText(text: string): Promise<boolean> {
  try {
    if (window.runtime?.ClipboardSetText) return await window.runtime.ClipboardSetText(text);
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** In the window the clipboard is Go's; a browser's own paste needs no leave to read. */
export function readsByItself(): boolean {
  return Boolean(window.runtime?.ClipboardGetText);
}

/** Null where the surroundings do not let a page read; the paste event still works there. */
export async function readText(): Promise<string | null> {
  try {
    if (window.runtime?.ClipboardGetText) return await window.runtime.ClipboardGetText();
    return await navigator.clipboard.readText();
  } catch {
    return null;
  }
}

/** Pictures and addresses of files, while a paste or a key of it is handled; nothing where a page may not read them. */
export async function readFiles(): Promise<{ pictures: Blob[]; uriList: string }> {
  const found = { pictures: [] as Blob[], uriList: "" };
  try {
    for (const item of await navigator.clipboard.read()) {
      const picture = item.types.find((t) => t.startsWith("image/"));
      if (item.types.includes("text/uri-list")) found.uriList = await (await item.getType("text/uri-list")).text();
      else if (picture) found.pictures.push(await item.getType(picture));
    }
  } catch {
    // as if nothing were there
  }
  return found;
}

function copyBySelection(text: string): boolean {
  const had = document.activeElement instanceof HTMLElement ? document.activeElement : null;
  const area = document.createElement("textarea");
  area.value = text;
  area.setAttribute("aria-hidden", "true");
  area.style.cssText = "position:fixed;inset:0 auto auto 0;width:1px;height:1px;opacity:0";
  document.body.append(area);
  area.select();
  let done = false;
  try {
    done = document.execCommand("copy");
  } catch {
    done = false;
  }
  area.remove();
  had?.focus({ preventScroll: true });
  return done;
}
