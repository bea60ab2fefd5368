import type { ReactNode } from "react";
import { useState } from "react";
import type { Approval } from "../../api/types";
import { addressParts, chain, verb } from "../../model/gate";
import { elideMiddle, pathParts } from "../../model/gate-text";
import { plural } from "../../model/format";
import { CopyIcon } from "../CopyButton";
import { Diff } from "../Diff";
import { Fact } from "../Fact";
import { Process } from "../Process";
import { SafeLine, SafeText } from "../SafeText";

const SUBJECT_MAX = 240; // characters; about three lines
const FACT_MAX = 160;

/** What is about to happen: its object, who asks and why, and the change. id names the object for the card. */
export function ApprovalFacts({ a, id }: { a: Approval; id: string }) {
  return (
    <>
      {a.kind === "flood" ? <p id={id} className="approval-flood">Each of its {plural(a.calls, "call")} waits at the kernel. Your terminals and other runs go on.</p> : <Subject a={a} id={id} />}
      <dl className="approval-facts selectable">
        {(a.processes?.length ?? 0) > 0 && <Fact name="Who"><Who a={a} />{a.other_processes ? ` and ${plural(a.other_processes, "more process", "more processes")}` : ""}</Fact>}
        {askedOtherwise(a) && <Fact name="Asked as"><AskedAs a={a} /></Fact>}
        {(a.details ?? []).map((d) => <Fact key={d.label} name={d.label}><Long text={d.text} /></Fact>)}
        <Fact name={a.kind === "flood" ? "Why paused" : "Why asked"}>{a.why && <SafeText text={a.why} />}</Fact>
        <Fact name="If allowed">{a.kind !== "flood" && a.consequence && <SafeText text={a.consequence} />}</Fact>
        <Fact name="Change">{!a.diff && a.diff_note && <SafeText text={a.diff_note} />}</Fact>
      </dl>
      {a.diff && (
        <div className="approval-diff">
          <Diff patch={a.diff} name="The change" fold />
        </div>
      )}
      {a.diff && a.diff_note && <p className="approval-note"><SafeText text={a.diff_note} /></p>}
    </>
  );
}

/** The object in full, with its folder dimmed where it is a path. */
function Subject({ a, id }: { a: Approval; id: string }) {
  const path = a.kind === "file" || (a.kind === "connect" && a.target.startsWith("/"));
  const shown = useFull(a.target, SUBJECT_MAX);
  const { folder, name } = path ? pathParts(shown.text) : { folder: "", name: shown.text };
  const address = a.kind === "navigate" ? addressParts(a) : null;
  // The site is shown whole, whatever stands around it.
  const around = (text: string) => (shown.text === a.target ? text : elideMiddle(text, SUBJECT_MAX / 2));
  return (
    <div className="approval-subject">
      <p id={id} className="mono selectable">
        <span className="sr-only">{verb(a)} </span>
        {folder && <span className="approval-folder"><SafeLine text={folder} /></span>}
        {address ? (
          <>
            <span className="approval-folder"><SafeLine text={around(address.before)} /></span>
            {address.site && <strong className="approval-site"><SafeLine text={address.site} /></strong>}
            {address.after && <span className="approval-folder"><SafeLine text={around(address.after)} /></span>}
          </>
        ) : <SafeLine text={name} />}
        {shown.more}
      </p>
      <span data-quiet><CopyIcon text={a.target} name={path ? "Copy the path" : "Copy it"} /></span>
    </div>
  );
}

function Who({ a }: { a: Approval }) {
  const { parents, asks, claim, whole } = chain(a);
  if (!asks) return null;
  return (
    <>
      {parents.map((p, i) => (
        <span key={i} className="approval-parent"><Process p={p} /> <span aria-hidden>→</span><span className="sr-only">starts</span> </span>
      ))}
      <Process p={asks}>{claim && <Long text={claim} whole={whole} />}</Process>
    </>
  );
}

const otherName = (a: Approval) => (a.asked_as && a.asked_as !== a.target ? a.asked_as : "");
const askedOtherwise = (a: Approval) => a.kind !== "flood" && (otherName(a) !== "" || Boolean(a.from) || a.calls > 1);

function AskedAs({ a }: { a: Approval }) {
  const other = otherName(a);
  const rest = [a.call && `by ${a.call}`, a.calls > 1 && `${plural(a.calls, "call")}, one question`].filter(Boolean).join(": ");
  return (
    <>
      {other && <Long text={other} />}
      {a.from && <>{other ? ", " : ""}from <Long text={a.from} /></>}
      {rest && <>{other || a.from ? ", " : ""}<SafeText text={rest} /></>}
    </>
  );
}

function Long({ text, whole = "" }: { text: string; whole?: string }) {
  const { text: shown, more } = useFull(text, FACT_MAX, whole);
  return (
    <>
      <span className="mono approval-strong"><SafeLine text={shown} /></span>
      {more}
    </>
  );
}

/** A long text without its middle, or one that stands for more, and the button that shows it whole. */
function useFull(text: string, max: number, whole = ""): { text: string; more: ReactNode } {
  const [all, setAll] = useState(false);
  const short = elideMiddle(text, max);
  const full = whole || text;
  if (short === full) return { text, more: null };
  const words = all ? "Show less" : whole ? "Show the whole command" : `Show all ${Array.from(full).length} characters`;
  return {
    text: all ? full : short,
    more: <> <button type="button" className="link small" data-quiet aria-expanded={all} onClick={() => setAll(!all)}>{words}</button></>,
  };
}
