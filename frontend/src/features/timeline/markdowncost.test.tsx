// What a text is said to cost, beside what the parser makes of it: lines put together by chance, and the same at each run.
import { renderToString } from "react-dom/server";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";
import { expect, it } from "vitest";
import { heaviest } from "../../model/markdowncost";

const MARK = "§"; // no mark to the parser, so that what it reads as one paragraph does not depend on it
const TEXTS = 1000;
const BEFORE = ["", "", "", "- ", "  ", "  ", "   ", "    ", "> ", ">", "1. ", "2. ", "10. ", "-   ", "\t", "      ", " ", "* "];
const LINES = [
  MARK, MARK, MARK, MARK, "", "```", "```", "~~~", "```\u00a0", "```x", `# ${MARK}`, `#${MARK}`, "<pre>", "</pre>", "<!--", "-->", "<div>", "<b>", "|a|", "|-|", `|${MARK}|`, `| ${MARK}`, "---", "* * *", "- --", "\u00a0", ">", "+ ", `[^1]: ${MARK}`, "===", `####### ${MARK}`,
];

type Node = { type: string; children?: Node[]; position?: { start: { offset: number }; end: { offset: number } } };

/** The most marks that the parser finds in one paragraph, heading or cell. */
function parsed(text: string): number {
  let most = 0;
  const walk = (n: Node) => {
    if (["paragraph", "heading", "tableCell"].includes(n.type) && n.position) most = Math.max(most, text.slice(n.position.start.offset, n.position.end.offset).split(MARK).length - 1);
    else n.children?.forEach(walk);
  };
  const look = () => (tree: object) => {
    walk(tree as Node);
    Object.assign(tree, { children: [] });
  };
  renderToString(<ReactMarkdown remarkPlugins={[remarkGfm, look]}>{text}</ReactMarkdown>);
  return most;
}

it("no text looks cheaper than it is to the parser", () => {
  let seed = 1;
  const upTo = (n: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % n;
  };
  const one = (of: string[]) => of[upTo(of.length)] ?? "";
  for (let i = 0; i < TEXTS; i++) {
    const lines = Array.from({ length: 2 + upTo(7) }, () => one(BEFORE) + (upTo(3) ? "" : one(BEFORE)) + one(LINES));
    const text = lines.join(upTo(20) ? "\n" : "\r");
    expect(heaviest(text.replaceAll(MARK, `*${MARK}`)).marks, JSON.stringify(text)).toBeGreaterThanOrEqual(parsed(text));
  }
});
