import { MousePointer2 } from "lucide-react";
import { useStore } from "zustand";
import type { BrowserState, BrowserTarget } from "../../api/browser-messages";
import { ago, DEED_MS, deedLabel } from "../../model/browser/deed";
import type { Box } from "../../model/browser/place";
import { viewportOf } from "../../model/browser/place";
import { Kbd } from "../../ui/Button";
import { SafeText } from "../../ui/SafeText";
import { useNow } from "../../ui/useNow";
import type { BrowserPane } from "./pane";
import { pageOf } from "./shown";

const CARD = 236; // pixels of the card's width with its margin

/** Where a part of the page is drawn. */
function drawn(t: BrowserTarget, state: BrowserState, box: Box): Box {
  const by = box.width / viewportOf(state.view).width;
  return { x: box.x + t.x * by, y: box.y + t.y * by, width: t.width * by, height: t.height * by };
}
const css = (b: Box) => ({ left: b.x, top: b.y, width: b.width, height: b.height });

/** What the agent acted on: for some seconds, or until the page is another one. */
export function Deed({ pane, state, box }: { pane: BrowserPane; state: BrowserState; box: Box }) {
  const page = useStore(pane.store, (s) => s.deedPage);
  const { deed } = state;
  if (!deed?.target || state.driver === "person" || page !== pageOf(state)) return null;
  return <Ring key={deed.at} deed={deed} target={deed.target} at={drawn(deed.target, state, box)} box={box} />;
}

function Ring({ deed, target, at, box }: { deed: NonNullable<BrowserState["deed"]>; target: BrowserTarget; at: Box; box: Box }) {
  const began = useNow(false);
  const now = useNow(began - deed.at < DEED_MS); // the clock is stopped again by the first look after that
  return now - deed.at < DEED_MS ? <Mark deed={deed} target={target} at={at} box={box} /> : null;
}

function Mark({ deed, target, at, box }: { deed: NonNullable<BrowserState["deed"]>; target: BrowserTarget; at: Box; box: Box }) {
  const now = useNow(true);
  const place = target.width > 0 || target.height > 0;
  const below = at.y + at.height + 34 < box.y + box.height;
  const right = at.x + at.width / 2 > box.x + box.width / 2;
  return (
    <div className={`browser-deed ${place ? "" : "point"} ${deed.ok ? "" : "failed"}`} aria-hidden style={css(at)}>
      <MousePointer2 size={18} />
      <span className={`${below ? "below" : "above"} ${right ? "right" : ""}`}><SafeText text={deedLabel(deed.text)} /> · {ago(now - deed.at)}</span>
    </div>
  );
}

/** The element that the person is about to pick, and what it is. */
export function Picked({ pane, state, box, size }: { pane: BrowserPane; state: BrowserState; box: Box; size: { width: number; height: number } }) {
  const t = useStore(pane.store, (s) => s.picked);
  const at = t && drawn(t, state, box);
  const left = at !== null && at.x + at.width > size.width - CARD && at.x > CARD;
  const low = at !== null && !left && at.x + at.width > size.width - CARD && at.y < size.height / 2;
  return (
    <>
      {at && <div className="browser-pick" aria-hidden style={css(at)} />}
      <div className={`browser-card browser-over picked ${left ? "left" : ""} ${low ? "low" : ""}`} role="group" aria-label="The element to pick">
        {t ? (
          <>
            <div className="browser-card-head"><code><SafeText text={t.selector || t.role || "element"} /></code><span className="tnum">{Math.round(t.width)} × {Math.round(t.height)}</span></div>
            <dl>
              {t.role && t.role !== "none" && <><dt>Role</dt><dd><SafeText text={t.role} /></dd></>}
              {t.name && <><dt>Name</dt><dd className="clamp"><SafeText text={t.name} /></dd></>}
              {t.text && <><dt>Text</dt><dd><i className="swatch" style={{ background: t.text.color }} /> {Math.round(t.text.size * 10) / 10} px{t.text.contrast > 0 && `, contrast ${t.text.contrast}`}</dd></>}
            </dl>
          </>
        ) : <p>Point at an element of the page.</p>}
        <ul>
          <li><Kbd>Enter</Kbd> Add to the prompt</li>
          <li><Kbd>↑</Kbd> <Kbd>↓</Kbd> Parent, child</li>
          <li><Kbd>Esc</Kbd> Stop picking</li>
        </ul>
      </div>
    </>
  );
}
