import { Keyboard, RotateCcw, Search } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useRef, useState } from "react";
import { useStore } from "zustand";
import { toFailure } from "../../api/failure";
import type { Failure } from "../../api/types";
import type { Chord } from "../../model/keys/chord";
import { shown } from "../../model/keys/chord";
import { clashes, isNeeded } from "../../model/keys/keymap";
import { refusal } from "../../model/keys/refused";
import { fixedText, found } from "../../model/keys/rows";
import { keysStore } from "../../model/keys/store";
import type { Action, Place } from "../../model/keys/table";
import { ANSWERS_WHY, FIXED, PLACES } from "../../model/keys/table";
import { announce, connectionStore, toast } from "../../model/stores";
import { giveKey, removeKeys, resetAllKeys, resetKeys } from "../../session/keys";
import { canQuit } from "../../session/leave";
import { Button, Kbd } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import type { KeyWish } from "./KeyRow";
import { KeyRow } from "./KeyRow";
import { useNextKey } from "./useNextKey";
import "./keys.css";

/** Every action with its keys, by place. Enter on a row waits for a key. */
export function KeysPanel() {
  const { map, chosen } = useStore(keysStore);
  const online = useStore(connectionStore, (c) => c.state === "online");
  const [query, setQuery] = useState("");
  const [key, setKey] = useState<Chord | null>(null);
  const [seeking, setSeeking] = useState(false);
  const [wish, setWish] = useState<KeyWish | null>(null);
  const [at, setAt] = useState("");
  const [failure, setFailure] = useState<Failure | null>(null);
  const [surely, setSurely] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  const rows = found(map, query, key).filter((a) => a.id !== "page.quit" || canQuit());
  const current = rows.find((a) => a.id === at) ?? rows[0];
  const waits = wish !== null && wish.chord === null;

  const focusRow = (id: string) => requestAnimationFrame(() => [...(list.current?.querySelectorAll<HTMLElement>("[data-key-row]") ?? [])].find((el) => el.dataset.keyRow === id)?.focus());
  const store = (a: Action, change: Promise<void>, said: string) => {
    setWish(null);
    setFailure(null);
    change.then(() => announce(said), (err: unknown) => setFailure(toFailure(err)));
    focusRow(a.id);
  };
  const give = (a: Action, c: Chord, besides: boolean) => store(a, giveKey(a, c, besides), `${a.does}: ${shown(c, map.platform)}`);
  const remove = (a: Action) => {
    if (isNeeded(a.id)) return setWish({ id: a.id, besides: false, chord: null, refused: "This action keeps a key: without one nobody gets out of a terminal by the keyboard." });
    store(a, removeKeys(a), `${a.does}: no key`);
  };
  const reset = (a: Action) => store(a, resetKeys(a), `${a.does}: as at first`);

  useNextKey(waits, map.platform, {
    cancel: () => { const id = wish?.id ?? ""; setWish(null); focusRow(id); },
    remove: () => { const a = rows.find((r) => r.id === wish?.id); if (a) remove(a); },
    key(c) {
      const a = rows.find((r) => r.id === wish?.id);
      if (!a || !wish) return;
      if (!c) return setWish({ ...wish, refused: "This key has no name that Loop could keep." });
      const why = refusal(a, c, map, !canQuit());
      if (why) return setWish({ ...wish, refused: `${shown(c, map.platform)} is refused. ${why}` });
      const others = clashes(map, a, c);
      if (others.some((o) => o.hard)) return setWish({ ...wish, chord: c, refused: "" });
      const note = others[0]?.words;
      if (note) toast(note);
      give(a, c, wish.besides);
    },
  });
  useNextKey(seeking, map.platform, { cancel: () => setSeeking(false), remove: () => setKey(null), key: (c) => { setKey(c); setSeeking(false); } });

  function onKeyDown(e: KeyboardEvent) {
    const row = (e.target as HTMLElement).closest<HTMLElement>("[data-key-row]");
    if (e.ctrlKey || e.metaKey || e.altKey || row !== e.target) return;
    const i = rows.findIndex((a) => a.id === row?.dataset.keyRow);
    const a = rows[i];
    const to: Record<string, number> = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: rows.length - 1, PageDown: i + 10, PageUp: i - 10 };
    const next = rows[Math.max(0, Math.min(rows.length - 1, to[e.key] ?? -1))];
    if (e.key in to && next) {
      setAt(next.id);
      focusRow(next.id);
    } else if (a && e.key === "Enter") setWish({ id: a.id, besides: false, chord: null, refused: "" });
    else if (a && (e.key === "Backspace" || e.key === "Delete")) remove(a);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  const places = (Object.entries(PLACES) as [Place, string][]).filter(([p]) => rows.some((a) => a.place === p));
  const changed = Object.keys(chosen).length;
  return (
    <div className="keys-page">
      <div className="keys-bar">
        <label className="keys-find">
          <Search size={14} aria-hidden />
          <input className="field" type="search" data-first aria-label="Find an action" placeholder="Find an action" value={query} onChange={(e) => setQuery(e.target.value)} />
        </label>
        <Button look={seeking || key ? "small keys-on" : "small"} aria-pressed={seeking || key !== null} {...(seeking ? { "data-waits": "" } : {})} onClick={() => (key ? setKey(null) : setSeeking(!seeking))}>
          <Keyboard size={14} aria-hidden /> {seeking ? "Press the key…" : key ? <>By the key <Kbd>{shown(key, map.platform)}</Kbd></> : "Find by a key"}
        </Button>
        <span className="grow" />
        {changed > 0 && !surely && <Button look="small" disabled={!online} onClick={() => setSurely(true)}><RotateCcw size={13} aria-hidden /> Reset all…</Button>}
        {surely && (
          <>
            <span className="keys-surely">Forget your keys of {changed} {changed === 1 ? "action" : "actions"}?</span>
            <Button look="small" onClick={() => setSurely(false)}>Keep them</Button>
            <Button look="small danger" onClick={() => { setSurely(false); resetAllKeys().then(() => toast("All keys are as they were at first."), (err: unknown) => setFailure(toFailure(err))); }}>Reset all</Button>
          </>
        )}
      </div>
      <p className="hint keys-how"><Kbd>↑</Kbd> <Kbd>↓</Kbd> action <Kbd>Enter</Kbd> new key <Kbd>Backspace</Kbd> no key</p>
      {failure && <FailureCard failure={failure}><Button look="small" onClick={() => setFailure(null)}>Close</Button></FailureCard>}
      <div className="keys-list" ref={list} onKeyDown={onKeyDown}>
        {places.map(([place, heading]) => (
          <section key={place} aria-labelledby={`keys-${place}`}>
            <h3 id={`keys-${place}`}>{heading}</h3>
            <ul>
              {rows.filter((a) => a.place === place).map((a) => (
                <KeyRow
                  key={a.id} a={a} map={map} chosen={chosen} off={!online} first={a.id === current?.id} wish={wish?.id === a.id ? wish : null}
                  onFocus={() => setAt(a.id)} onWish={(besides) => setWish({ id: a.id, besides, chord: null, refused: "" })} onCancel={() => { setWish(null); focusRow(a.id); }}
                  onTake={() => wish?.chord && give(a, wish.chord, wish.besides)} onReset={() => reset(a)}
                />
              ))}
            </ul>
          </section>
        ))}
        {rows.length === 0 && (
          <p className="keys-none" role="status">
            No action {key ? <>has the key <Kbd>{shown(key, map.platform)}</Kbd></> : "is called that"}.
            {" "}<Button look="small" onClick={() => { setQuery(""); setKey(null); }}>Show all</Button>
          </p>
        )}
        {!key && !query && (
          <section aria-labelledby="keys-answers">
            <h3 id="keys-answers">Answers: these stay as they are</h3>
            <p className="hint">{ANSWERS_WHY}</p>
            <ul>
              {FIXED.filter((f) => f.place === "answers").map((f) => (
                <li key={f.does} className="keys-row keys-fixed"><span className="keys-does">{f.does}</span><Kbd>{fixedText(f, map.platform)}</Kbd></li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </div>
  );
}

