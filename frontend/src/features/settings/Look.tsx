import { useStore } from "zustand";
import { viewStore } from "../../model/stores";
import { OWN_THEMES } from "../../model/theme";
import { visible } from "../../model/text";
import { openDialog, setContrast, setTheme } from "../../session/actions";
import { Button } from "../../ui/Button";

export function Look() {
  const theme = useStore(viewStore, (v) => v.theme);
  const contrast = useStore(viewStore, (v) => v.contrast);
  return (
    <section className="setting">
      <h3>Look</h3>
      <div className="segments" role="radiogroup" aria-label="Theme">
        {OWN_THEMES.map(([id, name]) => (
          <label key={id} className={theme === id ? "on" : ""}>
            <input type="radio" name="theme" value={id} checked={theme === id} onChange={() => void setTheme(id)} />
            {name}
          </label>
        ))}
      </div>
      <p className="field-more">
        {!OWN_THEMES.some(([id]) => id === theme) && <span>Imported: “{visible(theme)}” </span>}
        <Button look="small" onClick={() => openDialog("themes")}>Themes…</Button>
      </p>
      <label className="tick-box">
        <input type="checkbox" checked={contrast === "more"} onChange={(e) => setContrast(e.target.checked ? "more" : "")} />
        More contrast
      </label>
    </section>
  );
}
