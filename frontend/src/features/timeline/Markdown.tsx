import type { ComponentProps, ReactNode } from "react";
import { isValidElement, memo, useMemo, useState } from "react";
import ReactMarkdown from "react-markdown";
import type { Components } from "react-markdown";
import rehypeSanitize, { defaultSchema } from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { fileParts } from "../../model/fileplace";
import { beginning, DRAWN_AT_MOST, DRAWN_AT_ONCE, latest, splitBlocks } from "../../model/blocks";
import { byteSize } from "../../model/byteSize";
import { costsTooMuch, depthOf } from "../../model/markdowncost";
import { prose, visible } from "../../model/text";
import { viewStore } from "../../model/stores";
import { follow } from "../../session/links";
import { SafeText } from "../../ui/SafeText";
import { hostBehind, webAddress } from "./address";
import { CodeBlock } from "./CodeBlock";
import { FileLink } from "./FileLink";

// Agent text is hostile. Raw HTML is never parsed (there is no rehype-raw), and the tree is
// sanitised as well. Only http(s) links can be followed, and images are not fetched.
const schema = { ...defaultSchema, tagNames: defaultSchema.tagNames?.filter((t) => t !== "picture" && t !== "source") };
const MOST_LEVELS = 120;
const remark = [remarkGfm];
const rehype: ComponentProps<typeof ReactMarkdown>["rehypePlugins"] = [() => refuseDeep, [rehypeSanitize, schema], () => showHidden, () => (tree: Node) => linkFiles(tree, "")];

/** What comes after it calls itself for each level, and would run out of stack. */
function refuseDeep(tree: Node) {
  if (depthOf(tree) > MOST_LEVELS) throw new RangeError("nested too deeply");
}

/** Names what hides or reorders. The tree is walked, not the source, which could write such a character as “&#x202e;”. */
function showHidden(node: { type: string; value?: string; children?: object[] }) {
  if (node.type === "text" && node.value) node.value = prose(node.value);
  for (const child of node.children ?? []) showHidden(child as typeof node);
}

type Node = { type: string; tagName?: string; value?: string; properties?: object; children?: Node[] };

/** Puts places in files into elements of their own. It comes after the sanitiser, so no agent can write such an element. */
function linkFiles(node: Node, inside: string) {
  if (!node.children || node.tagName === "a" || node.tagName === "pre") return;
  node.children = node.children.flatMap((child): Node[] => {
    if (child.type !== "text" || !child.value) {
      linkFiles(child, child.tagName ?? "");
      return [child];
    }
    return fileParts(child.value, inside === "code" && node.children?.length === 1).map(({ text, file }) => {
      const value: Node = { type: "text", value: text };
      return file ? { type: "element", tagName: "span", properties: { dataPath: file.path, dataLine: String(file.line) }, children: [value] } : value;
    });
  });
}

function Place({ children, ...more }: { children?: ReactNode }) {
  const { "data-path": path = "", "data-line": line = "" } = more as Record<string, string>;
  return path ? <FileLink file={{ path, line: Number(line), column: 0 }}>{children}</FileLink> : <span>{children}</span>;
}

function Link({ href, children }: { href?: string; children?: ReactNode }) {
  const url = webAddress(href);
  if (!url) return <span title={href ? visible(href) : undefined}>{children}</span>;
  const host = hostBehind(textOf(children), url);
  return (
    <>
      <a
        href={url}
        rel="noopener noreferrer"
        title={url}
        onClick={(e) => {
          e.preventDefault();
          follow(viewStore.getState().selected, { kind: "web", url });
        }}
        onAuxClick={(e) => e.preventDefault()}
      >
        {children}
      </a>
      {host && <span className="muted"> ({host})</span>}
    </>
  );
}

const components: Components = {
  span: Place,
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  img: ({ src, alt }) => (
    <span className="no-image">
      Image not loaded: <Link href={typeof src === "string" ? src : ""}>{alt ? prose(alt) : "no description"}</Link>
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
  return isValidElement<{ children?: ReactNode }>(node) ? textOf(node.props.children) : "";
}

const Block = memo(function Block({ text }: { text: string }) {
  return useMemo(() => drawn(text), [text]) ?? (
    <>
      <p className="muted">Drawing its Markdown would take too long, so this is the text as it was written.</p>
      <div className="output"><pre className="selectable" tabIndex={0} aria-label="Text as it was written"><SafeText text={text} /></pre></div>
    </>
  );
});

/** A block as Markdown; null where that takes too long, or more levels than there is stack for. */
function drawn(text: string): ReactNode {
  if (costsTooMuch(text)) return null;
  try {
    return ReactMarkdown({ remarkPlugins: remark, rehypePlugins: rehype, components, children: text });
  } catch (err) {
    if (err instanceof RangeError) return null;
    throw err;
  }
}

/**
 * Agent text as Markdown. A long one is drawn in part: its end while it is written, else its
 * beginning, with a button for more.
 */
export const Markdown = memo(function Markdown({ text, live }: { text: string; live: boolean }) {
  const [most, setMost] = useState(DRAWN_AT_ONCE);
  const part = live ? latest(text, DRAWN_AT_ONCE) : beginning(text, most);
  const blocks = useMemo(() => splitBlocks(part), [part]);
  const rest = text.length - part.length;
  return (
    <div className={`md ${live ? "live" : ""}`}>
      {rest > 0 && live && <p className="muted">{byteSize(rest)} before this are shown once the message is complete.</p>}
      {blocks.map((b, i) => (
        <Block key={i} text={b} />
      ))}
      {rest > 0 && !live && (
        <p className="muted">
          {byteSize(rest)} more.{" "}
          {most < DRAWN_AT_MOST
            ? <button type="button" className="link" onClick={() => setMost(most * 4)}>Show {rest > most * 3 ? `the next ${byteSize(most * 3)}` : "all"}</button>
            : "That is too much to be drawn; copy the message to read it elsewhere."}
        </p>
      )}
    </div>
  );
});
