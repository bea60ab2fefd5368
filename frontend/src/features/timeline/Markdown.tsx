import type { ReactNode } from "react";
import { isValidElement, memo, useMemo } from "react";
import ReactMarkdown from "react-markdown";
import type { Components } from "react-markdown";
import rehypeSanitize, { defaultSchema } from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { splitBlocks } from "../../model/blocks";
import { visible } from "../../model/text";
import { openLink } from "../../session/actions";
import { CodeBlock } from "./CodeBlock";

// Agent text is hostile. Raw HTML is never parsed (there is no rehype-raw), and the tree is
// sanitised as well. Only http(s) links can be followed, and images are not fetched.
const schema = { ...defaultSchema, tagNames: defaultSchema.tagNames?.filter((t) => t !== "picture" && t !== "source") };
const remark = [remarkGfm];
const rehype: [[typeof rehypeSanitize, typeof schema]] = [[rehypeSanitize, schema]];

function webAddress(href: string | undefined): string {
  if (!href) return "";
  try {
    const u = new URL(href);
    return u.protocol === "http:" || u.protocol === "https:" ? u.href : "";
  } catch {
    return "";
  }
}

function Link({ href, children }: { href?: string; children?: ReactNode }) {
  const url = webAddress(href);
  if (!url) return <span title={href ? visible(href) : undefined}>{children}</span>;
  return (
    <a
      href={url}
      rel="noopener noreferrer"
      title={url}
      onClick={(e) => {
        e.preventDefault();
        openLink(url);
      }}
      onAuxClick={(e) => e.preventDefault()}
    >
      {children}
    </a>
  );
}

const components: Components = {
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  img: ({ src, alt }) => (
    <span className="no-image">
      Image not loaded: <Link href={typeof src === "string" ? src : ""}>{alt || "no description"}</Link>
    </span>
  ),
  pre: ({ children }) => {
    if (!isValidElement<{ className?: string; children?: ReactNode }>(children)) return <pre>{children}</pre>;
    const lang = /language-([\w+#.-]+)/.exec(children.props.className ?? "")?.[1] ?? "";
    return <CodeBlock code={textOf(children.props.children).replace(/\n$/, "")} lang={lang} />;
  },
  table: ({ children }) => (
    <div className="table-scroll" tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
  // Headings in a timeline are of a lower level than the page's own.
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h4>{children}</h4>,
  h4: ({ children }) => <h5>{children}</h5>,
  h5: ({ children }) => <h5>{children}</h5>,
  h6: ({ children }) => <h5>{children}</h5>,
  input: ({ checked }) => <span className="task-box">{checked ? "☑" : "☐"}</span>,
};

function textOf(node: ReactNode): string {
  if (typeof node === "string") return node;
  if (Array.isArray(node)) return node.map(textOf).join("");
  return "";
}

const Block = memo(function Block({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={remark} rehypePlugins={rehype} components={components}>
      {text}
    </ReactMarkdown>
  );
});

export const Markdown = memo(function Markdown({ text, live }: { text: string; live: boolean }) {
  const blocks = useMemo(() => splitBlocks(text), [text]);
  return (
    <div className={`md ${live ? "live" : ""}`}>
      {blocks.map((b, i) => (
        <Block key={i} text={b} />
      ))}
    </div>
  );
});
