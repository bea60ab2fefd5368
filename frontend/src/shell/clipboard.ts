// The clipboard. A page in the window uses the window's clipboard, because on WebKitGTK
// navigator.clipboard only exchanges copies with the page itself.

/** The words for a person when copyText returned false. */
export const NOT_COPIED = "Not copied: the clipboard refused the text. Try again; if it repeats, select the text and copy it with the keyboard.";

/** Copies text. Returns false if the clipboard refused it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (window.runtime?.ClipboardSetText) return await window.runtime.ClipboardSetText(text);
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Whether the page reads the clipboard itself, as in the window. A browser's paste event needs no permission. */
export function readsByItself(): boolean {
  return Boolean(window.runtime?.ClipboardGetText);
}

/** The clipboard's text. null: the page may not read it, and only the paste event works. */
export async function readText(): Promise<string | null> {
  try {
    if (window.runtime?.ClipboardGetText) return await window.runtime.ClipboardGetText();
    return await navigator.clipboard.readText();
  } catch {
    return null;
  }
}

/** Pictures and addresses of files in the clipboard. Only the handler of a paste or of its key may read them; else the result is empty. */
export async function readFiles(): Promise<{ pictures: Blob[]; uriList: string }> {
  const found = { pictures: [] as Blob[], uriList: "" };
  try {
    for (const item of await navigator.clipboard.read()) {
      const picture = item.types.find((t) => t.startsWith("image/"));
      if (item.types.includes("text/uri-list")) found.uriList = await (await item.getType("text/uri-list")).text();
      else if (picture) found.pictures.push(await item.getType(picture));
    }
  } catch {
    // The page may not read the clipboard: it counts as empty.
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
