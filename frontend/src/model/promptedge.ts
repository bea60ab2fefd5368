// Where an arrow key leaves a prompt for the one before or behind it.

/**
 * Whether an arrow key would go out of the text, up or down from the caret. rows: as many as the box
 * shows. "look": a row that wraps may be there, so only what the caret then does tells.
 */
export function leavesText(text: string, caret: number, up: boolean, rows: number): "yes" | "no" | "look" {
  if (up ? text.slice(0, caret).includes("\n") : text.slice(caret).includes("\n")) return "no";
  return rows < 2 ? "yes" : "look";
}

/** How many rows of text are as high as this, without what surrounds them. One row may stand in a box that is higher. */
export const rowsIn = (height: number, row: number): number => (row > 0 ? Math.max(1, Math.floor(height / row + 0.1)) : 2);
