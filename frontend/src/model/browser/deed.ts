// What the agent did, in the words of the page.
const DEEDS: Record<string, string> = {
  clicked: "Click", "right-clicked": "Right-click", "double-clicked": "Double-click", "triple-clicked": "Triple-click", typed: "Type", pressed: "Press", pointed: "Point", scrolled: "Scroll", dragged: "Drag",
  opened: "Open", filled: "Fill", reloaded: "Reload", took: "Take", looked: "Look", read: "Read", ran: "Run", changed: "Change",
};

/** The label beside a place on the page: “clicked “Continue”” reads “Click “Continue””. */
export function deedLabel(text: string): string {
  const [verb = "", ...rest] = text.split(" ");
  return [DEEDS[verb] ?? verb.charAt(0).toUpperCase() + verb.slice(1), ...rest].join(" ");
}

export function ago(ms: number): string {
  if (ms < 1500) return "now";
  return ms < 90_000 ? `${Math.round(ms / 1000)} s ago` : `${Math.round(ms / 60_000)} min ago`;
}

/** For how long what the agent did stays on the page, in milliseconds. */
export const DEED_MS = 8000;
