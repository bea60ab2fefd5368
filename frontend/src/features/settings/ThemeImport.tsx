import { FileUp } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { toFailure } from "../../api/failure";
import type { Failure, ReadTheme, Theme } from "../../api/types";
import { toast } from "../../model/stores";
import { visible } from "../../model/text";
import { keepTheme, readTheme, textOfFile } from "../../session/themes";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { SafeText } from "../../ui/SafeText";
import { ThemePreview } from "./ThemePreview";

const TYPED_MS = 250; // who pastes and types a name is asked about once

/** A theme from a file or a pasted text: read by Loop, shown, and then kept. */
export function ThemeImport({ themes }: { themes: Theme[] }) {
  const id = useId();
  const [text, setText] = useState("");
  const [name, setName] = useState("");
  const [file, setFile] = useState("");
  const [read, setRead] = useState<ReadTheme | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const chooser = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLTextAreaElement>(null);

  useEffect(() => {
    if (!text.trim()) return;
    let here = true;
    const timer = setTimeout(() => {
      readTheme(name || file, text).then(
        (r) => { if (here) { setRead(r); setFailure(null); } },
        (err: unknown) => { if (here) { setRead(null); setFailure(toFailure(err)); } },
      );
    }, TYPED_MS);
    return () => { here = false; clearTimeout(timer); };
  }, [text, name, file, themes]);

  const take = (t: string, from: string) => {
    setText(t);
    setFile(from);
    if (!t.trim()) {
      setRead(null);
      setFailure(null);
    }
  };
  async function choose(f: File | undefined) {
    if (!f) return;
    try {
      take(await textOfFile(f), f.name.replace(/\.(json|jsonc|itermcolors|txt)$/i, ""));
    } catch (err) {
      setRead(null);
      setFailure(toFailure(err));
    }
  }
  async function keep(use: boolean) {
    if (!read) return;
    setBusy(true);
    try {
      const t = await keepTheme(name.trim() || read.name, text, use);
      toast(use ? `“${visible(t.name)}” is in use.` : `“${visible(t.name)}” is kept.`);
      take("", "");
      setName("");
      box.current?.focus();
    } catch (err) {
      setFailure(toFailure(err));
    }
    setBusy(false);
  }

  const changes = read?.changes ?? [];
  const nameless = read !== null && !read.name && !name.trim();
  return (
    <section className="themes-import" aria-labelledby={id}>
      <h3 id={id}>Import a theme</h3>
      <p className="hint">A theme of VS Code, a scheme of Windows Terminal, or colours of iTerm2. A dark and a light one of the same name follow the system.</p>
      <div className="themes-from">
        <input ref={chooser} type="file" hidden accept=".json,.jsonc,.itermcolors,.txt" onChange={(e) => { const f = e.target.files?.[0]; e.target.value = ""; void choose(f); }} />
        <Button onClick={() => chooser.current?.click()}><FileUp size={14} aria-hidden /> Choose a file…</Button>
        <span className="muted">or paste its text</span>
      </div>
      <textarea ref={box} className="field mono themes-text" rows={3} aria-label="Text of the theme" placeholder={'{ "colors": { "editor.background": "#011627", … } }'} spellCheck={false} value={text} onChange={(e) => take(e.target.value, "")} />
      {failure && <div role="alert"><FailureCard failure={failure} /></div>}
      {read && (
        <div className="themes-read">
          <label className="themes-name">
            <span className="label">Name</span>
            <input className="field" value={name} placeholder={visible(read.name)} maxLength={60} onChange={(e) => setName(e.target.value)} />
          </label>
          <p className="hint" role="status">
            {read.format}, {read.look.dark ? "dark" : "light"}. {read.kept === "same" && <>“<SafeText text={read.name} />” is there already, and will be replaced.</>}
            {read.kept === "other" && <>It becomes the {read.look.dark ? "dark" : "light"} look of “<SafeText text={read.name} />”, which then follows the system.</>}
            {nameless && "It has no name of its own: type one."}
          </p>
          <ThemePreview look={read.look} />
          {changes.length > 0 ? (
            <details className="themes-changes" open={changes.length <= 4}>
              <summary>{changes.length} {changes.length === 1 ? "colour" : "colours"} could not be read well and {changes.length === 1 ? "is" : "are"} changed to the nearest that can</summary>
              <ul>
                {changes.map((c) => (
                  <li key={c.what}>
                    <span className="mono"><SafeText text={c.what} /></span>
                    <span className="themes-change"><i style={{ background: c.from }} aria-hidden /> <code className="mono">{c.from}</code> → <i style={{ background: c.to }} aria-hidden /> <code className="mono">{c.to}</code></span>
                    <span className="muted tnum">contrast {c.had.toFixed(1)}, needs {c.needs}</span>
                  </li>
                ))}
              </ul>
            </details>
          ) : <p className="hint">All of its colours can be read well.</p>}
          <div className="themes-do">
            <Button look="primary" disabled={busy || nameless} onClick={() => void keep(true)}>Keep and use</Button>
            <Button disabled={busy || nameless} onClick={() => void keep(false)}>Keep</Button>
            <Button disabled={busy} onClick={() => { take("", ""); setName(""); box.current?.focus(); }}>Discard</Button>
          </div>
        </div>
      )}
    </section>
  );
}
