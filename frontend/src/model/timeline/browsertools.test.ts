import { expect, it } from "vitest";
import type { KeptFrame } from "../../api/types";
import type { ToolItem } from "./items";
import { describeTool } from "./tools";

const item = (tool: string, input: unknown, output?: string, is_error = false): ToolItem => ({
  kind: "tool", key: "k", at: 0, runId: "r", useId: "u", parentId: "", name: `mcp__loop-browser__${tool}`, input, endedAt: 1, orphaned: false, cut: false,
  result: output === undefined ? null : { tool_use_id: "u", output, is_error },
});
const frame = (more: Partial<KeptFrame>): KeptFrame => ({ frame_id: 1, run_id: "r", kind: "act", time: 0, driver: "agent", ...more });
const line = (call: ToolItem, f?: KeptFrame) => {
  const v = describeTool(call, "", f);
  return `${v.verb} ${v.object}`.trim() + (v.mark.text ? ` | ${v.mark.text}` : "");
};

it("says every tool in words, never as JSON", () => {
  const named = frame({ target: { name: "Continue", role: "button", x: 0, y: 0, width: 1, height: 1 }, title: "Sign in – Fernway" });
  expect(line(item("navigate", { url: "http://preview.api-server:8080/login/" }, "Opened."), named)).toBe("Open preview.api-server:8080/login | Sign in – Fernway");
  expect(line(item("computer", { action: "click", ref: 2 }, "Clicked."), named)).toBe("Click “Continue”");
  expect(line(item("computer", { action: "click", ref: 2 }, "Clicked button “Greet”."))).toBe("Click “Greet”");
  expect(line(item("computer", { action: "click", ref: 2 }))).toBe("Click element 2 | working");
  expect(line(item("computer", { action: "double_click", x: 10.4, y: 20 }, "Done."))).toBe("Double-click at 10, 20");
  expect(line(item("computer", { action: "type", text: "a\nb" }, "Typed 3 characters."))).toBe("Type “a …”");
  expect(line(item("computer", { action: "scroll", delta_y: -300 }, ""))).toBe("Scroll up");
  expect(line(item("computer", { action: "wait", duration: 2 }, ""))).toBe("Wait 2 s");
  expect(line(item("form_input", { ref: 1, value: "secret" }, "Filled."), frame({ target: { name: "Password", x: 0, y: 0, width: 1, height: 1 } }))).toBe("Fill in “Password”");
  expect(line(item("read_console_messages", { onlyErrors: true }, "No messages were seen."))).toBe("Read console errors only | nothing");
  expect(line(item("read_network_requests", {}, "a\nb"))).toBe("Read network | 2 lines");
  expect(line(item("navigate", { url: "http://x/" }, "Loop did not connect. The name is not known.", true))).toBe("Open x | Loop did not connect.");
  for (const t of ["read_page", "find", "get_page_text", "page_info", "screenshot", "evaluate", "go_back", "go_forward", "reload", "resize_window", "list_tabs", "new_tab", "switch_tab", "close_tab", "later_tool"]) {
    for (const input of [{}, null, { ref: 1, x: 2 }, [1]]) expect(line(item(t, input, "x"))).not.toMatch(/[{}[\]"_]|undefined|null|mcp/);
  }
});
