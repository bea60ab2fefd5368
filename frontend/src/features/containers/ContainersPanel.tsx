import { Boxes, Search } from "lucide-react";
import type { KeyboardEvent } from "react";
import { useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import { arrive, leave } from "../../dock/visit";
import type { ContainerOrder } from "../../model/container-order";
import type { ContainerFilter, ContainerRow } from "../../model/containers";
import { byNext, ordered, orderFrom, orderText } from "../../model/container-order";
import { FILTERS, fits, matches, rowsOf, sums } from "../../model/containers";
import { frameStore } from "../../model/stores";
import { loadChoice, saveChoice } from "../../shell/memory";
import { Button, KeyOf } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { meaning } from "../../ui/keys";
import { useNow } from "../../ui/useNow";
import { ContainerTable } from "./ContainerTable";
import type { Tab } from "./Details";
import { Details, TABS } from "./Details";
import { HeightLine } from "./HeightLine";
import type { Asked } from "./Questions";
import { CleanUp, Question } from "./Questions";
import { useWatch } from "./useWatch";
import "./containers.css";
import "./details.css";

const PLACE = "containers.height"; // share of the height that the list has
const ORDER = "containers.order";

/** All containers of this Loop folder: the list above, and all of the chosen one below. */
export function ContainersPanel() {
  const { watch, failure, again } = useWatch();
  const channels = useStore(frameStore, (f) => f.channels);
  const engine = useStore(frameStore, (f) => f.engine);
  const [filter, setFilter] = useState<ContainerFilter>("all");
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState("");
  const [tab, setTab] = useState<Tab>("overview");
  const [entered, setEntered] = useState(false); // in a narrow panel the details stand in the place of the list
  const [asked, setAsked] = useState<Asked>("");
  const [about, setAbout] = useState(""); // the container that is asked about, whatever is chosen by now
  const [menu, setMenu] = useState(false);
  const [share, setShare] = useState(() => Number(loadChoice(PLACE)) || 0.45);
  const [order, setOrder] = useState(() => orderFrom(loadChoice(ORDER) ?? ""));
  const body = useRef<HTMLElement>(null);
  const find = useRef<HTMLInputElement>(null);
  const now = useNow((watch?.containers ?? []).length > 0);
  const all = useMemo(() => rowsOf(watch?.containers ?? [], channels, now), [watch, channels, now]);
  const rows = ordered(all.filter((r) => fits(r, filter, now) && matches(r, typed)), order);
  const place = Math.max(0, rows.findIndex((r) => r.id === at));
  const current: ContainerRow | undefined = rows[place];
  const named = all.find((r) => r.id === about);
  const down = engine !== null && !engine.ok;
  const trouble = failure ?? (down ? engine.failure : undefined) ?? watch?.failure;
  const off = down || failure !== null;

  const focus = (part: string) => body.current?.querySelector<HTMLElement>(part)?.focus();
  const soon = (part: string) => {
    focus(part);
    requestAnimationFrame(() => focus(part)); // in a narrow panel it is not shown before
  };
  const toList = () => {
    setEntered(false);
    soon(".containers-list");
  };
  const enter = () => {
    setEntered(true);
    soon(".containers-tab[aria-selected=true]");
  };
  const go = (to: number) => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, to))];
    if (next) setAt(next.id);
  };
  const question = (what: Asked) => {
    setAbout(current?.id ?? "");
    setAt(current?.id ?? ""); // whichever row is the first one by then
    setAsked(what);
  };
  const ask = (what: Asked) => () => current && !off && (what !== "recreate" || current.c.scope) && (what !== "stop" || current.c.status === "running") && question(what);
  const sort = (o: ContainerOrder) => {
    setAt(current?.id ?? ""); // the chosen one stays so, wherever it goes
    setOrder(o);
    saveChoice(ORDER, orderText(o));
  };
  const size = (s: number) => {
    const to = Math.min(0.8, Math.max(0.15, s));
    setShare(to);
    saveChoice(PLACE, to.toFixed(3));
  };

  function onKeyDown(e: KeyboardEvent) {
    const target = e.target as HTMLElement;
    if (target.closest("[data-layer]")) return;
    const key = meaning("containers", e);
    if (key === "containers.log" && current) {
      e.preventDefault();
      setTab("logs");
      setEntered(true);
      requestAnimationFrame(() => focus(".containers-log-find"));
      return;
    }
    if (e.key === "Escape") {
      if (target.matches(".containers-list, .containers-panel")) return leave(e.currentTarget as HTMLElement);
      e.preventDefault();
      return toList();
    }
    if (!target.matches(".containers-list, .containers-panel")) return;
    const does: Record<string, () => unknown> = {
      ArrowDown: () => go(place + 1), ArrowUp: () => go(place - 1), PageDown: () => go(place + 10), PageUp: () => go(place - 10), Home: () => go(0), End: () => go(rows.length),
      Enter: enter, "containers.recreate": ask("recreate"), "containers.stop": ask("stop"), "containers.remove": ask("remove"), "containers.copy": () => current && setMenu(true), "containers.filter": () => find.current?.focus(),
      "containers.sort": () => sort(byNext(order)), "containers.turn": () => sort({ ...order, up: !order.up }),
    };
    const nth = e.ctrlKey || e.metaKey || e.altKey ? undefined : TABS[Number(e.key) - 1];
    const f = nth ? () => setTab(nth[0]) : does[key];
    if (!f) return;
    e.preventDefault();
    f();
  }

  const total = watch && sums(watch);
  return (
    <section className={`containers-panel ${entered && current ? "entered" : ""}`} aria-label="Containers" ref={body} tabIndex={-1} onFocus={arrive} onKeyDown={onKeyDown} data-region="containers">
      <header className="containers-head">
        <label className="containers-find">
          <Search size={14} aria-hidden />
          <input ref={find} type="search" className="field" aria-label="Filter containers" placeholder="Filter containers" value={typed} onChange={(e) => setTyped(e.target.value)} />
          {!typed && <KeyOf of="containers.filter" />}
        </label>
        <div className="containers-filters" role="group" aria-label="Which containers">
          {FILTERS.map(([id, name]) => (
            <button key={id} type="button" className="containers-filter" aria-pressed={filter === id} onClick={() => setFilter(id)}>
              {name} <span className="containers-count tnum">{all.filter((r) => fits(r, id, now)).length}</span>
            </button>
          ))}
        </div>
        <span className="grow" />
        {total && <span className="containers-sums tnum">{[total.cpus, total.memory, total.warm].filter(Boolean).join(" · ")}</span>}
        <Button look="small" disabled={off} onClick={() => setAsked("clean")}>Clean up…</Button>
      </header>
      {trouble && <div className="containers-pad"><FailureCard failure={trouble}><Button look="small" onClick={again}>Try again</Button></FailureCard></div>}
      {!watch && !trouble && <Skeleton />}
      {watch && all.length === 0 && !trouble && (
        <div className="dock-empty">
          <Boxes size={20} aria-hidden />
          <p>None now. A run makes one.</p>
        </div>
      )}
      {watch && all.length > 0 && rows.length === 0 && (
        <div className="dock-empty">
          <p>No container fits the filter.</p>
          <Button look="small" onClick={() => { setFilter("all"); setTyped(""); }}>Show all</Button>
        </div>
      )}
      {watch && current && (
        <div className="containers-body" style={{ gridTemplateRows: `minmax(96px, ${share}fr) auto minmax(140px, ${1 - share}fr)` }}>
          <ContainerTable rows={rows} watch={watch} at={current.id} now={now} dimmed={off} order={order} onOrder={sort} onChoose={(id) => { setAt(id); setEntered(true); }} />
          <HeightLine share={share} onShare={size} />
          <Details key={current.id} r={current} watch={watch} now={now} tab={tab} off={off} menu={menu} onMenu={setMenu} onTab={setTab} onAsk={question} onBack={toList} />
        </div>
      )}
      {asked === "clean" && <CleanUp onClose={() => { setAsked(""); again(); }} />}
      {asked !== "" && asked !== "clean" && named && <Question asked={asked} r={named} onClose={() => { setAsked(""); again(); }} />}
    </section>
  );
}

function Skeleton() {
  return (
    <div className="containers-pad" role="status" aria-label="Reading the containers">
      {[72, 64, 78].map((w) => <div key={w} className="skeleton" style={{ width: `${w}%` }} />)}
    </div>
  );
}
