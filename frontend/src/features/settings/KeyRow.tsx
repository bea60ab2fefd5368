import { Plus, RotateCcw } from "lucide-react";
import type { Chord } from "../../model/keys/chord";
import { shown } from "../../model/keys/chord";
import type { Chosen, Keymap } from "../../model/keys/keymap";
import { chordsFor, clashes, lostTo } from "../../model/keys/keymap";
import type { Action } from "../../model/keys/table";
import { Button, IconButton, Kbd } from "../../ui/Button";

/** A row that waits for a key (chord is null), or for what to do about the action that has it. */
export type KeyWish = { id: string; besides: boolean; chord: Chord | null; refused: string };

type Props = {
  a: Action;
  map: Keymap;
  chosen: Chosen;
  off: boolean;
  first: boolean; // the one that the Tab key reaches
  wish: KeyWish | null;
  onFocus(): void;
  onWish(besides: boolean): void;
  onCancel(): void;
  onTake(): void;
  onReset(): void;
};

/** One action: what it does, its keys, and while a key is awaited what was pressed. */
export function KeyRow({ a, map, chosen, off, first, wish, onFocus, onWish, onCancel, onTake, onReset }: Props) {
  const keys = chordsFor(map, a.id).map((c) => shown(c, map.platform));
  const own = chosen[a.id] !== undefined;
  const lost = keys.length === 0 ? lostTo(map, a, chosen) : undefined;
  const clash = wish?.chord ? clashes(map, a, wish.chord).filter((c) => c.hard) : [];
  const words = keys.length > 0 ? keys.join(", ") : "no key";
  return (
    <li className={`keys-row ${wish ? "keys-asked" : ""}`}>
      <div className="keys-line" role="group" data-key-row={a.id} tabIndex={first ? 0 : -1} onFocus={onFocus} aria-label={`${a.does}: ${words}${own ? ", changed" : ""}. Enter waits for a new key.`}>
        <span className="keys-does">{a.does}{own && <span className="keys-own">changed</span>}</span>
        <span className="keys-keys">
          {keys.map((k) => <Kbd key={k}>{k}</Kbd>)}
          {keys.length === 0 && <span className="keys-no">{lost ? `Its key went to “${lost.does}”` : "No key"}</span>}
        </span>
        <span className="keys-acts">
          <Button look="small" tabIndex={first ? 0 : -1} disabled={off} aria-label={`Change the key: ${a.does}`} onClick={() => onWish(false)}>Change</Button>
          <IconButton small tabIndex={first ? 0 : -1} disabled={off} name={`Add a key: ${a.does}`} onClick={() => onWish(true)}><Plus size={14} aria-hidden /></IconButton>
          <IconButton small tabIndex={first ? 0 : -1} disabled={off || !own} className={own ? "" : "keys-hidden"} name={`Reset: ${a.does}`} onClick={onReset}><RotateCcw size={13} aria-hidden /></IconButton>
        </span>
      </div>
      {wish && !wish.chord && (
        <div className="keys-wait" role="status">
          <span>{wish.besides ? "Press one more key" : "Press the new key"}. <Kbd>Esc</Kbd> cancels{wish.besides ? "" : <>, <Kbd>Backspace</Kbd> takes the key away</>}.</span>
          {wish.refused && <span className="keys-refused">{wish.refused}</span>}
        </div>
      )}
      {wish?.chord && (
        <div className="keys-wait keys-clash" role="alert">
          <span><Kbd>{shown(wish.chord, map.platform)}</Kbd> {clash.map((c) => c.words).join(" ")}</span>
          <span className="keys-clash-do">
            <Button look="small" autoFocus onClick={onCancel}>Leave it there</Button>
            <Button look="small" onClick={onTake}>Take the key from it</Button>
          </span>
        </div>
      )}
    </li>
  );
}
