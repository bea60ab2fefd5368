import type { ReactNode } from "react";
import type { ContainerWatch, Holder } from "../../api/types";
import { sessionsStore } from "../../model/dock/store";
import { when } from "../../model/clock";
import type { ContainerRow, What } from "../../model/containers";
import { atQuit } from "../../model/container-order";
import { bytes, endsAt, isHeld, limitOf, longTime, percent, usedOf } from "../../model/containers";
import { plural } from "../../model/format";
import { sessionTitle } from "../../model/terminals/titles";
import { Fact } from "../../ui/Fact";
import { SafeText } from "../../ui/SafeText";
import { showHolder } from "./actions";
import { holderIcon } from "./ContainerTable";
import { Sparkline } from "./Sparkline";

const SCOPES: readonly [RegExp, string][] = [
  [/^shared/, "all channels of this Loop"], [/^agent:/, "the channels of one agent in one folder"], [/^session:/, "the runs and terminals of one channel"],
  [/^shell:/, "the terminals of one channel"],
];

const sharedBy = (scope: string) => SCOPES.find(([is]) => is.test(scope))?.[1] ?? scope;

/** What a container uses, who holds it, and how long it stays. */
export function Overview({ r, watch, now }: { r: ContainerRow; watch: ContainerWatch; now: number }) {
  const { c } = r;
  const ends = endsAt(c);
  const facts: [string, ReactNode][] = [
    ["Made", <>{when(Date.parse(c.created_at))}, from <span className="mono"><SafeText text={c.image} /></span>{c.engine?.image_id && <span className="containers-quiet"> {c.engine.image_id.replace(/^sha256:/, "").slice(0, 7)}</span>}</>],
    ["Shared by", c.scope ? sharedBy(c.scope) : c.type === "chrome" ? "the browser of one channel" : "nobody else: no new work joins it"],
    ["Last used", c.last_used_at ? `${longTime(Math.max(0, now - Date.parse(c.last_used_at)))} ago` : "not known"],
    ["On disk", c.size_bytes < 0 ? "being measured" : `${bytes(c.size_bytes)} of its own files`],
    ["Folders", c.engine ? `${plural((c.engine.mounts ?? []).length, "mount")}; the tab Why names each` : "being read"],
    ["Ends", <>it <SafeText text={c.ends_why} />{ends > now ? `, in ${longTime(ends - now)} (${when(ends)})` : ""}</>],
  ];
  if (c.status === "running") facts.push(["When Loop quits", atQuit(watch.on_app_exit, isHeld(c))]);
  if (c.why) facts.push(["Why", <>it <SafeText text={c.why} /></>]);
  if (c.drift?.unknown) facts.push(["Settings", <SafeText key="u" text={c.drift.unknown} />]);
  if (c.engine?.error) facts.push(["Engine", <SafeText key="e" text={c.engine.error} />]);
  if (c.engine && !c.engine.running) facts.push(["Exit", `${c.engine.exit_code}${c.engine.oom_killed ? ", out of memory" : ""}`]);
  return (
    <div className="containers-overview">
      <div className="containers-charts">
        <Chart r={r} what="cpu" watch={watch} now={now} />
        <Chart r={r} what="memory" watch={watch} now={now} />
      </div>
      <section className="containers-holders" aria-label="Held by">
        <h3>Held by</h3>
        {(c.holders ?? []).length === 0 && <p className="containers-quiet">Nobody. It {r.next.startsWith("idle") ? `is ${r.next}` : "waits for the next use"}.</p>}
        <ul>
          {(c.holders ?? []).map((h) => (
            <li key={`${h.kind} ${h.id}`}>
              {holderIcon(h.kind)} <span className="ellipsis"><HolderName h={h} r={r} /></span>
              {["run", "terminal", "browser", "prompt"].includes(h.kind) && r.kind !== "gone" && <button type="button" className="link" onClick={() => showHolder(c, h)}>Show<span className="sr-only"> {h.kind}</span></button>}
            </li>
          ))}
        </ul>
      </section>
      <dl className="containers-facts">{facts.map(([name, value]) => <Fact key={name} name={name}>{value}</Fact>)}</dl>
    </div>
  );
}

function HolderName({ h, r }: { h: Holder; r: ContainerRow }) {
  const t = sessionsStore.getState().byId[h.id];
  const name = h.kind.charAt(0).toUpperCase() + h.kind.slice(1);
  return <>{name} <span className="containers-quiet">· <SafeText text={t ? sessionTitle(t) : h.kind === "run" || h.kind === "prompt" ? r.title : h.id.slice(0, 12)} /></span></>;
}

function Chart({ r, what, watch, now }: { r: ContainerRow; what: What; watch: ContainerWatch; now: number }) {
  const limit = limitOf(r.c, what, watch);
  const used = usedOf(r.c, what, limit, now, 320, 92);
  const [name, of, value, most] = what === "cpu"
    ? ["CPU", limit ? `of ${plural(limit, "CPU")}` : "", used && (percent(used.now, limit) || used.now.toFixed(1)), used && (percent(used.most, limit) || used.most.toFixed(1))]
    : ["Memory", limit ? `of ${bytes(limit)}` : "", used && bytes(used.now), used && bytes(used.most)];
  const none = r.c.status === "running" ? "The first sample comes in a moment." : "It does not run.";
  return (
    <figure className="containers-chart">
      <figcaption>{name} <strong className={`tnum ${used?.high ? "high" : ""}`}>{value ?? "–"}</strong> <span className="containers-quiet tnum">{of}{most && `, most ${most}`}</span></figcaption>
      <Sparkline used={used} width={320} height={92} tone={what === "memory" && r.tone === "fail" ? "fail" : what} label={used ? `${name} of the last ten minutes: ${value} now, ${most} at most` : `${name}: ${none}`} />
      <p className="containers-quiet">{used ? <><span>10 min ago</span><span>now</span></> : none}</p>
    </figure>
  );
}
