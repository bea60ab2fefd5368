// Calls of the browser's tools as words.
import type { KeptFrame, ToolResult } from "../../api/types";
import { shortAddress } from "../footage";
import { plural } from "../format";
import { oneLine, stripColour } from "../text";

const PREFIX = "mcp__loop-browser__";
export type BrowserIcon = "web" | "fill" | "click" | "type" | "look" | "picture" | "console" | "script" | "wait" | "tabs";
type Words = { icon: BrowserIcon; verb: string; object: string; note: string };

export const isBrowserTool = (name: string): boolean => name.startsWith(PREFIX);

const SPOTS: Record<string, string> = {
  click: "Click", right_click: "Right-click", double_click: "Double-click", triple_click: "Triple-click", move: "Point at", hover: "Point at", scroll_to: "Scroll to", left_click_drag: "Drag",
};

/** One call in words. The frame, where there is one, knows what the target is called. */
export function browserWords(name: string, input: Record<string, unknown>, result: ToolResult | null, frame?: KeptFrame): Words {
  const s = (k: string) => (typeof input[k] === "string" ? oneLine(input[k] as string) : "");
  const n = (k: string) => (typeof input[k] === "number" ? (input[k] as number) : 0);
  const words = (icon: BrowserIcon, verb: string, object = "", note = ""): Words => ({ icon, verb, object, note });
  const target = () => targetWords(frame, result, n("ref"), input);
  const pattern = s("pattern") ? `with “${s("pattern")}”` : "";
  switch (name.slice(PREFIX.length)) {
    case "navigate":
      return words("web", "Open", shortAddress(s("url")));
    case "new_tab":
      return words("tabs", "Open in a new tab", shortAddress(s("url")));
    case "read_page":
      return words("look", "Read page");
    case "get_page_text":
      return words("look", "Read text");
    case "page_info":
      return words("look", "Look at", "address and size");
    case "find":
      return words("look", "Find", `“${s("query")}”`);
    case "form_input":
      return words("fill", "Fill in", target());
    case "computer":
      return pointerWords(s("action"), words, target, input);
    case "screenshot":
      return words("picture", "Take a picture");
    case "evaluate":
      return words("script", "Run a script", s("expression"));
    case "read_console_messages":
      return words("console", "Read console", [input.onlyErrors === true ? "errors only" : "", pattern].filter(Boolean).join(", "));
    case "read_network_requests":
      return words("console", "Read network", pattern);
    case "go_back":
      return words("web", "Go back");
    case "go_forward":
      return words("web", "Go forward");
    case "reload":
      return words("web", "Reload");
    case "resize_window":
      return words("tabs", "Resize", `${n("width")} × ${n("height")}`);
    case "list_tabs":
      return words("tabs", "List tabs");
    case "switch_tab":
      return words("tabs", "Change tab");
    case "close_tab":
      return words("tabs", "Close tab");
  }
  return words("web", "Use the browser", name.slice(PREFIX.length).replaceAll("_", " "));
}

function pointerWords(action: string, words: (icon: BrowserIcon, verb: string, object?: string) => Words, target: () => string, input: Record<string, unknown>): Words {
  const text = typeof input.text === "string" ? oneLine(input.text) : "";
  const spot = SPOTS[action];
  if (spot) return words("click", spot, target());
  switch (action) {
    case "type":
      return words("type", "Type", text ? `“${text}”` : "");
    case "key":
      return words("type", "Press", text);
    case "scroll": {
      const [x, y] = [Number(input.delta_x) || 0, Number(input.delta_y) || 0];
      return words("click", "Scroll", Math.abs(x) > Math.abs(y) ? (x > 0 ? "right" : "left") : y < 0 ? "up" : "down");
    }
    case "wait":
      return words("wait", "Wait", typeof input.duration === "number" ? `${input.duration} s` : "");
    case "screenshot":
      return words("picture", "Take a picture");
  }
  return words("click", "Use mouse and keyboard", action.replaceAll("_", " "));
}

/** What a target is called: by the frame, by the answer, which quotes it, or by its number or place. */
function targetWords(frame: KeptFrame | undefined, result: ToolResult | null, ref: number, input: Record<string, unknown>): string {
  if (frame?.target?.name) return `“${oneLine(frame.target.name)}”`;
  const quoted = result && !result.is_error ? /“[^”\n]{1,120}”/.exec(result.output)?.[0] : undefined;
  if (quoted) return quoted;
  if (frame?.target?.role) return `a ${frame.target.role}`;
  if (ref) return `element ${ref}`;
  return typeof input.x === "number" && typeof input.y === "number" ? `at ${Math.round(input.x)}, ${Math.round(input.y)}` : "";
}

const LONGEST = 100; // characters of a result

/** What came of a call, in a few words; empty where there is nothing to say. */
export function browserResult(name: string, r: ToolResult, frame?: KeptFrame): string {
  const output = stripColour(r.output).trim();
  if (r.is_error) {
    const first = /^[^\n]*?[.!?](?=\s|$)/.exec(output)?.[0] ?? oneLine(output);
    return first.length > LONGEST ? `${first.slice(0, LONGEST)}…` : first || "failed";
  }
  const lines = output ? output.split("\n").length : 0;
  switch (name.slice(PREFIX.length)) {
    case "navigate":
    case "new_tab":
    case "go_back":
    case "go_forward":
    case "reload":
    case "switch_tab":
      return frame?.title ? oneLine(frame.title) : "";
    case "read_console_messages":
    case "read_network_requests":
      return output.startsWith("No ") || !output ? "nothing" : plural(lines, "line");
    case "find":
    case "read_page":
    case "list_tabs":
    case "get_page_text":
      return plural(lines, "line");
  }
  return "";
}
