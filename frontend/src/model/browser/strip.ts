// How the strip of pages shows them: by name while there is room, then by icon, then in a list.
export type StripMode = "names" | "icons" | "list";

const NAME = 96; // pixels of a tab whose name can still be read
const ICON = 34;
const ACTIVE = 150; // the active one keeps its name
const REST = 72; // the buttons behind the tabs

export function stripMode(pages: number, width: number): StripMode {
  const room = width - REST;
  if (pages * NAME <= room || pages <= 1) return "names";
  return ACTIVE + (pages - 1) * ICON <= room ? "icons" : "list";
}
