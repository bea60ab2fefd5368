import { ImageOff } from "lucide-react";
import type { CSSProperties } from "react";
import type { Failure, KeptFrame } from "../api/types";
import type { Place } from "../model/footage";
import { cropOf, targetPlace } from "../model/footage";
import { SafeText } from "./SafeText";
import "./pageframe.css";

type Props = { frame: KeptFrame; url: string; failure: Failure | null; alt: string };

const percent = (n: number) => `${(100 * n).toFixed(3)}%`;
const placed = (p: Place): CSSProperties => ({ left: percent(p.x), top: percent(p.y), width: percent(p.width), height: percent(p.height) });

/** A picture of a page as a whole, with a ring round what was acted on. Its box has the picture's shape from the beginning. */
export function PageFrame({ frame, url, failure, alt }: Props) {
  const ring = targetPlace(frame);
  const width = frame.width || 16;
  const height = frame.height || 10;
  return (
    <div className={`page-frame ${failure ? "broken" : url ? "" : "wait"}`} style={{ aspectRatio: `${width} / ${height}`, "--shape": width / height } as CSSProperties}>
      {url && <img src={url} alt={alt} draggable={false} />}
      {url && ring && <span className={`page-ring ${frame.failed ? "failed" : ""}`} style={placed(ring)} aria-hidden />}
      {failure && (
        <p>
          <ImageOff size={15} aria-hidden /> <SafeText text={failure.cause} />
        </p>
      )}
    </div>
  );
}

const SHAPE = 12 / 7;

/** A thumbnail of a picture, round what was acted on. It has one size, also without its picture. */
export function PageThumb({ frame, url, failure }: { frame: KeptFrame | undefined; url: string; failure: Failure | null }) {
  const c = frame && cropOf(frame, SHAPE);
  return (
    <span className={`page-thumb ${failure ? "broken" : url ? "" : "wait"}`} aria-hidden>
      {url && c && <img src={url} alt="" draggable={false} style={{ left: percent(-c.x / c.width), top: percent(-c.y / c.height), width: percent(1 / c.width), height: percent(1 / c.height) }} />}
      {failure && <ImageOff size={14} />}
    </span>
  );
}
