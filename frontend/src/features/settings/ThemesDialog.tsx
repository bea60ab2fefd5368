import { Trash2 } from "lucide-react";
import { useCallback, useEffect, useState } from "react";
import { useStore } from "zustand";
import { toFailure } from "../../api/failure";
import type { Failure, Theme } from "../../api/types";
import { frameStore, toast, viewStore } from "../../model/stores";
import { kindWords, OWN_THEMES, tokensOf } from "../../model/theme";
import { visible } from "../../model/text";
import { setTheme } from "../../session/actions";
import { listThemes, removeTheme } from "../../session/themes";
import { Button, IconButton } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { SafeText } from "../../ui/SafeText";
import { ThemeImport } from "./ThemeImport";
import "./themes.css";

/** All themes, with the one in force, and a way to import more. */
export function ThemesDialog({ onClose }: { onClose(): void }) {
  const now = useStore(viewStore, (v) => v.theme);
  const contrast = useStore(viewStore, (v) => v.contrast);
  const changed = useStore(frameStore, (f) => f.config);
  const [list, setList] = useState<Theme[] | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const load = useCallback(() => {
    listThemes().then((l) => { setList(l); setFailure(null); }, (err: unknown) => setFailure(toFailure(err)));
  }, []);
  useEffect(load, [load, changed]);

  async function remove(t: Theme) {
    try {
      await removeTheme(t.name, t.name === now);
      toast(`“${visible(t.name)}” is removed.`);
      document.querySelector<HTMLElement>(".themes-list input:checked")?.focus();
    } catch (err) {
      setFailure(toFailure(err));
    }
  }

  const choice = (id: string, name: string, says: string, t?: Theme) => (
    <div key={`${t ? "own " : ""}${id}`} className="themes-row">
      <label>
        <input type="radio" name="themes" value={id} checked={now === id} onChange={() => void setTheme(id)} />
        <span className="ellipsis"><SafeText text={name} /></span>
        <span className="themes-kind">{says}</span>
        {t && <Swatches t={t} />}
      </label>
      {t && <IconButton small name={`Remove ${visible(name)}`} onClick={() => void remove(t)}><Trash2 size={13} aria-hidden /></IconButton>}
    </div>
  );
  return (
    <Modal title="Themes" wide className="themes" onClose={onClose} description="The theme of the page and its terminals, and themes of other programs">
      <div className="themes-list" role="radiogroup" aria-label="Theme">
        {OWN_THEMES.map(([id, name]) => choice(id, name, ""))}
        {list?.map((t) => choice(t.name, t.name, kindWords(t), t))}
      </div>
      {list === null && !failure && <div className="skeleton" aria-hidden="true" />}
      {failure && <FailureCard failure={failure}><Button look="small" onClick={load}>Load again</Button></FailureCard>}
      {contrast === "more" && <p className="hint">More contrast is on: Loop’s own colours are shown, and imported ones are not.</p>}
      <ThemeImport themes={list ?? []} />
    </Modal>
  );
}

/** Background, text and some colours of each look. */
function Swatches({ t }: { t: Theme }) {
  return (t.looks ?? []).map((l) => {
    const colors = new Map(tokensOf(l));
    return (
      <span key={String(l.dark)} className="themes-swatches" aria-hidden>
        {["bg-1", "fg-1", "accent", "ansi-1", "ansi-2", "ansi-3", "ansi-5"].map((c) => <span key={c} style={{ background: colors.get(`--${c}`) }} />)}
      </span>
    );
  });
}
