import { describe, expect, it } from "vitest";
import { costsTooMuch, depthOf } from "./markdowncost";

describe("what a text costs as Markdown", () => {
  it("is too much where a few kilobytes stand still for minutes", () => {
    for (const bad of [
      ">".repeat(2000) + " x", "> ".repeat(30) + "x", "+ ".repeat(1000) + "x", "1. ".repeat(400) + "x", "> - ".repeat(200) + "x", ("> - ".repeat(5) + "x\n").repeat(100),
      "*a _b ".repeat(1000) + "b_ a*".repeat(1000), "*a _b\n".repeat(1000), "> *a _b\n".repeat(1000), "a\n" + "      - *a _b\n".repeat(1000), "a\n" + "2. *a _b\n".repeat(1000),
      "|a|\n|b\\|-|\n" + "| *a _b\n".repeat(1000), "``` a`b\n" + "*a _b\n".repeat(1000), "[\n".repeat(5000), "[a](".repeat(5000), "![".repeat(5000),
    ]) expect(costsTooMuch(bad), bad.slice(0, 40)).toBe(true);
  });
  it("is not where people write much", () => {
    for (const good of [
      "", "A **bold** word and _another_.\n\n".repeat(5000), "- **a**: `x_y` [b](https://c.de)\n".repeat(3000), "  - **a**\n    - _b_\n      - ~~c~~\n".repeat(3000),
      "1. **a**\n2. **b**\n".repeat(2000), "| a | b |\n|---|---|\n" + "| **x** | [y](z) |\n".repeat(3000), "```c\n" + "*p = _a[i] * _b[j];\n".repeat(3000) + "```\n",
      "snake_case_words ".repeat(3000), "> a quote of **words**\n> in lines\n>\n".repeat(2000), "> > > deep\n".repeat(500), "\\* \\_ \\[ ".repeat(3000),
    ]) expect(costsTooMuch(good), good.slice(0, 40)).toBe(false);
  });
  it("is found in no time", () => {
    const began = performance.now();
    for (const c of [">", "*a _b ", "[", "|", "- ", "\\", "a", " "]) costsTooMuch(c.repeat(50_000));
    expect(performance.now() - began).toBeLessThan(3000);
  });
});

it("a tree's depth is known without a call for each level", () => {
  const root: { children: object[] } = { children: [] };
  for (let i = 0, at = root; i < 100_000; i++) at.children.push((at = { children: [] }));
  expect(depthOf(root)).toBe(100_001);
});
