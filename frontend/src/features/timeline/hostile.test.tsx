// Agent text that is made to harm whoever reads it: it becomes words, and nothing that runs, loads or hides.
import "../../test/browser";
import { renderToString } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { hostBehind, webAddress } from "./address";
import { Markdown } from "./Markdown";

const md = (text: string) => renderToString(<Markdown text={text} live={false} />).replaceAll("<!-- -->", "");
const WORDS = new Set("div p pre code span strong em del a ul ol li h3 h4 h5 blockquote table thead tbody tr th td hr br sup section bdi figure figcaption button svg path rect input".split(" "));

/** The names of all elements, and all attributes that may act. */
const elements = (html: string) => [...html.matchAll(/<([a-z][\w:-]*)/gi)].map((m) => m[1] ?? "");
const acting = (html: string) => [...html.matchAll(/<[^>]*?\s(on\w+|srcdoc|formaction|action|src|srcset|xlink:href|background|poster|ping)=/gi)].map((m) => m[1]);
const targets = (html: string) => [...html.matchAll(/\shref="([^"]*)"/g)].map((m) => m[1] ?? "");

describe("HTML and SVG in agent text", () => {
  for (const bad of [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg onload=alert(1)><use href='data:image/svg+xml,x#a'/></svg>", "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<style>*{display:none}</style>", "<link rel=stylesheet href=https://evil.example/x.css>", "<form action=https://evil.example><button formaction=javascript:alert(1)>Send</button></form>",
    "<base href=https://evil.example/>", "<meta http-equiv=refresh content='0;url=https://evil.example'>", "<math><mi xlink:href=javascript:alert(1)>x</mi></math>", "<video poster=https://evil.example/p src=x>",
    "<details ontoggle=alert(1) open>", "<body onload=alert(1)>", "<!--><img src=x onerror=alert(1)>-->", "<a href=javascript:alert(1)>x</a>", "<div style=position:fixed;inset:0>over</div>",
    "text <b onclick=alert(1)>bold</b> <object data=x> <embed src=x>", "<![CDATA[<img src=x onerror=alert(1)>]]>", "<?xml-stylesheet href=x?>", "<SCRIPT/SRC=//evil.example>",
    "| a |\n|---|\n| <img src=x onerror=alert(1)> |", "- [ ] <input onfocus=alert(1) autofocus>", "[^1]: <img src=x onerror=alert(1)>\n\nx[^1]", "```html\n<script>alert(1)</script>\n```", "`<img src=x onerror=alert(1)>`",
  ]) {
    it(`is no element: ${bad.slice(0, 60).replaceAll("\n", " ")}`, () => {
      const html = md(bad);
      expect(elements(html).filter((name) => !WORDS.has(name))).toEqual([]);
      expect(acting(html)).toEqual([]);
      expect(html).not.toMatch(/\sstyle="[^"]*(position|url\()/);
    });
  }
});

describe("links in agent text", () => {
  it("lead to pages of the web alone", () => {
    for (const bad of [
      "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "&#106;avascript:alert(1)", "javascript&colon;alert(1)", " javascript:alert(1)", "\u0001javascript:alert(1)", "vbscript:x", "data:text/html,<script>alert(1)</script>",
      "data:image/svg+xml;base64,PHN2Zy8+", "file:///etc/passwd", "file://host/share", "loop://run/1", "loop:approve", "vscode://file/a", "blob:https://x.org/1", "about:blank", "view-source:https://x.org", "ms-msdt:/id", "//evil.example", "/relative", "#fragment", "mailto:a@b.c", "tel:1", "intent://x",
    ]) {
      for (const text of [`[click](<${bad}>)`, `![click](<${bad}>)`, `[click][x]\n\n[x]: <${bad}>`, `<${bad}>`]) expect(targets(md(text)), text).toEqual([]);
    }
    expect(targets(md("[x](https://x.org/a?b#c) <http://y.org> www.z.org"))).toEqual(["https://x.org/a?b#c", "http://y.org/", "http://www.z.org/"]);
  });
  it("show a host that looks like another one in ASCII, and one that is hidden before an @", () => {
    expect(md("[https://apple.com](https://аррӏе.com/)")).toContain("(xn--80ak6aa92e.com)");
    expect(md("[аррӏе.com](https://аррӏе.com/)")).toContain('title="https://xn--80ak6aa92e.com/"');
    expect(md("[bank.com](https://bank.com@evil.example/)")).toContain("(evil.example)");
    expect(md("[bank.com](https://bank.com.evil.example/)")).toContain("(bank.com.evil.example)");
    expect(md("[https://bank.com\u202e/moc.live](https://evil.example/)")).toMatch(/⟨RLO⟩.*\(evil\.example\)/);
    expect(webAddress("https://x.org\\@evil.example/")).toBe("https://x.org/@evil.example/");
  });
  it("of any length cost no time", () => {
    const began = performance.now();
    for (const text of [`${"a.".repeat(40)}1`, "a.".repeat(20_000), `www.${"a.".repeat(20_000)}1`, "https://".repeat(5000), `${"a".repeat(50_000)}.`]) hostBehind(text, "https://x.org/");
    expect(md(`[x](https://x.org/${"a".repeat(40_000)})`)).toContain("<a ");
    expect(performance.now() - began).toBeLessThan(20_000);
  }, 60_000);
});

const BUSY = 60_000; // ms on a machine that does much else; what they show took longer on a quiet one

describe("Markdown that takes a parser for ever", () => {
  const shown = (bad: string) => {
    const began = performance.now();
    const html = md(bad);
    return { html, ms: performance.now() - began };
  };
  it("is shown as it was written", () => {
    for (const bad of [">".repeat(50_000), "*a _b ".repeat(4000) + "b_ a*".repeat(4000), "+ ".repeat(25_000) + "x", "[\n".repeat(25_000), "[a](".repeat(12_500), "> - ".repeat(12_000) + "x", "#*a _b\n".repeat(4000), "*a _b\n\u00a0\n".repeat(4000), `- a\n  \`\`\`\n${"*a _b\n".repeat(4000)}`]) {
      const { html, ms } = shown(bad);
      expect(html).toContain("as it was written");
      expect(html).toContain(bad.slice(0, 4).trim().replaceAll(">", "&gt;"));
      expect(ms, bad.slice(0, 10)).toBeLessThan(20_000);
    }
  }, BUSY);
  it("does not run out of stack where it is just cheap enough", () => {
    for (const bad of ["*a _b ".repeat(180) + "b_ a*".repeat(180), "![".repeat(700) + "](x)".repeat(700), ">".repeat(24) + " x", Array.from({ length: 220 }, (_, i) => "  ".repeat(i) + "- x").join("\n")]) expect(md(bad).length).toBeGreaterThan(100);
  }, BUSY);
  it("is drawn where it is only long", () => {
    for (const long of ["- **a** and `b`\n".repeat(1000), `Look:\n\n\`\`\`c\n${"*p = _a[i] * _b[j];\n".repeat(1500)}\`\`\`\n`]) expect(md(long)).not.toContain("as it was written");
  }, BUSY);
});
