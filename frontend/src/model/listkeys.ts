// The keys of a list that opens while a prompt is typed.

/**
 * What a key does while a list is open. "wish": the list of these letters is not here yet, so the key
 * waits for it. "none": the key is not the list's.
 */
export type ListKey = "close" | "next" | "previous" | "take" | "wish" | "none";

/** count: the options that are shown; come: they are those of the letters that are typed now. */
export function listKey(key: string, count: number, come: boolean): ListKey {
  if (key === "Escape") return "close";
  const takes = key === "Enter" || key === "Tab";
  if (takes && !come) return "wish";
  if (count === 0) return "none";
  if (key === "ArrowDown") return "next";
  if (key === "ArrowUp") return "previous";
  return takes ? "take" : "none";
}
