import type { CSSProperties } from "react";
import type { ThemeLook } from "../../api/types";
import { tokensOf } from "../../model/theme";

const ANSI = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** A piece of the page and of a terminal in the colours of a look. */
export function ThemePreview({ look }: { look: ThemeLook }) {
  const style = { ...Object.fromEntries(tokensOf(look)), colorScheme: look.dark ? "dark" : "light" } as CSSProperties;
  return (
    <div className="themes-preview" style={style} role="img" aria-label={`How the ${look.dark ? "dark" : "light"} theme looks`}>
      <div className="themes-side">
        <span>api-server</span>
        <span className="themes-here">storefront</span>
        <span className="themes-need">needs you</span>
        <span className="themes-done">done</span>
        <span className="themes-fail">failed</span>
      </div>
      <div className="themes-page">
        <span>Retries wait twice as long each time. <span className="themes-link">backoff.go:42</span></span>
        <span className="themes-quiet">Read 3 files, 1.2 s</span>
        <code className="mono"><span className="themes-key">func</span> <span className="themes-fn">wait</span>(n) {"{"} <span className="themes-key">return</span> <span className="themes-num">2</span> * n <span className="themes-com">{"// seconds"}</span></code>
        <code className="mono themes-add">+ log(<span className="themes-str">"again"</span>)</code>
        <code className="mono themes-del">- log(<span className="themes-str">"never"</span>)</code>
        <span className="themes-button">Send</span>
      </div>
      <pre className="mono themes-term">
        {"$ ls "}<span className="themes-cursor"> </span>{"\n"}
        {ANSI.map((n, i) => <span key={n} style={{ color: `var(--ansi-${i})` }}>{n} </span>)}{"\n"}
        {ANSI.map((n, i) => <span key={n} style={{ color: `var(--ansi-${i + 8})` }}>{n} </span>)}{"\n"}
        <span className="themes-chosen">what is selected</span>
      </pre>
    </div>
  );
}
