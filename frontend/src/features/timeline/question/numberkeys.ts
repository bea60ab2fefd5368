/** The digit of a key without others, 0 for any other key and for one that is written into a text. */
export function numberOf(e: KeyboardEvent): number {
  const to = e.target instanceof HTMLElement ? e.target : null;
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || to?.closest("textarea, input:not([type=radio], [type=checkbox]), [contenteditable]")) return 0;
  return /^[1-9]$/.test(e.key) ? Number(e.key) : 0;
}
