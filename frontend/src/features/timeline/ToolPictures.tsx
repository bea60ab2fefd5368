import { Image } from "lucide-react";
import { useState } from "react";
import type { Attachment, ChannelID } from "../../api/types";
import { isHuge, pictureSize } from "../../model/timeline/tools";
import { Button } from "../../ui/Button";
import { Modal } from "../../ui/Modal";
import { Picture } from "./Pictures";
import "./pictures.css";

const TALLEST_PX = 360;

/** The pictures that a tool showed the agent. A huge one is drawn once the person wants it. */
export function ToolPictures({ channelId, pictures, name }: { channelId: ChannelID; pictures: readonly Attachment[]; name: string }) {
  const [wanted, setWanted] = useState<Record<string, boolean>>({});
  const [large, setLarge] = useState<Attachment | null>(null);
  const called = (i: number) => (pictures.length > 1 ? `${name} ${i + 1}` : name);
  return (
    <ul className="pictures-shown" aria-label="Pictures">
      {pictures.map((p, i) => (
        <li key={`${p.id} ${i}`}>
          {isHuge(p) && !wanted[p.id] ? (
            <p className="pictures-huge">
              <Image size={14} aria-hidden />
              <span className="tnum">{pictureSize(p)}</span>
              <Button look="small" data-more onClick={() => setWanted((w) => ({ ...w, [p.id]: true }))} aria-label={`Show ${called(i)}`}>Show</Button>
            </p>
          ) : (
            <button type="button" className="pictures-tool" style={{ aspectRatio: `${p.width} / ${p.height}`, width: Math.max(24, Math.min(p.width, (TALLEST_PX * p.width) / p.height)) }} aria-label={`Enlarge ${called(i)}`} title={pictureSize(p)} onClick={() => setLarge(p)}>
              <Picture channelId={channelId} picture={{ ...p, name: called(i) }} />
            </button>
          )}
        </li>
      ))}
      {large && (
        <Modal title={name} wide onClose={() => setLarge(null)} description={pictureSize(large)}>
          <div className="pictures-large"><Picture channelId={channelId} picture={{ ...large, name }} /></div>
        </Modal>
      )}
    </ul>
  );
}
