// The title of the page, and of the native window around it, which does not follow the page's.

export function setTitle(title: string) {
  document.title = title;
  window.runtime?.WindowSetTitle?.(title);
}
