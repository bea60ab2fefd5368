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
  it("is too much whatever stands between the marks that Markdown takes for text", () => {
    const marks = "*a _b\n".repeat(4000);
    for (const between of ["#*a _b\n", "####### *a _b\n", "*a _b\n\u00a0\n", "-\u00a0*a _b\n", "*a _b\n+ \n", "*a _b\n    >\n", ">\t  >\n> *a _b\n"]) expect(costsTooMuch(`a\n${between.repeat(4000)}`), between).toBe(true);
    for (const before of [
      "- a\n  ```\n", "<pre>\n```\n</pre>\n\n", "<!--\n```\n-->\n\n", "- ```\n  a\n  ```\n", "1. a\n\n     ```\n   ```\n", "<b>\n```\n\n```\n", "```\n```\u00a0\n```\n", "~~~\r~~~\r", "\ufeff```\n```\n", "``` \u2028`\n", "- a\n  ~~~\n~~~\n~~~\n",
    ]) {
      expect(costsTooMuch(before + marks), before).toBe(true);
      expect(costsTooMuch(`${before + marks}\n  \`\`\`\n`), `${before}, and a fence at the end`).toBe(true);
    }
    const each = (before: string, line: string) => expect(costsTooMuch(before + line.repeat(4000)), before + line).toBe(true);
    each("- a\n---\nb\n", "2. *a _b\n");
    each("- a\n\nb\n", "2. *a _b\n");
    each("- a\n", "  2. *a _b\n");
    each("a\n", "    - *a _b\n");
    each("* * *\n  a\n", "    - *a _b\n");
    each("<div>\n- a\n\n   b\n", "    - *a _b\n");
    each("|a|\n|- -|\n", "| *a _b\n");
    each("- a\n\n  |a|\n  |-|\n", "| *a _b\n");
    each("<pre>\n\n|a|\n|-|\n|</pre>\n", "| *a _b\n");
  });
  it("is not where code stands in fences", () => {
    const code = "*p = _a[i] * _b[j];\n".repeat(3000);
    const inItem = code.replaceAll(/^/gm, "   ");
    for (const good of [
      `\`\`\`c\n${code}`, `~~~\n${code}~~~\n`, `Text.\n\n  \`\`\`\n${code}\`\`\`\n`, `\`\`\`\`md\n\`\`\`\n${code}\`\`\`\n\`\`\`\`\n`, `\`\`\`html\n<pre>\n<!-- -->\n- a\n\`\`\`\n\n\`\`\`c\n${code}\`\`\`\n`,
      `1. First:\n   \`\`\`c\n${inItem}\`\`\`\n2. Then.\n`, `- a\n- b\n\n\`\`\`c\n${code}\`\`\`\n`, `# Title\n\`\`\`c\n${code}\`\`\`\n`, `\`\`\`c\r\n${code.replaceAll("\n", "\r\n")}\`\`\`\r\n`,
    ]) expect(costsTooMuch(good), good.slice(0, 40)).toBe(false);
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
