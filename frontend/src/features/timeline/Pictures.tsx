import { Image, ImageOff, X } from "lucide-react";
import type { ReactNode } from "react";
import { useEffect, useState } from "react";
import type { Attachment, ChannelID } from "../../api/types";
import { byteSize } from "../../model/byteSize";
import { tooLarge } from "../../model/pictures";
import { IconButton } from "../../ui/Button";
import { Modal } from "../../ui/Modal";
import { SafeText } from "../../ui/SafeText";
import { session } from "../../session/session";
import "./pictures.css";

type Props = { channelId: ChannelID; pictures: readonly Attachment[]; onRemove?(id: string): void };

/** The pictures of a prompt. One that is chosen is shown as large as there is room for. */
export function Pictures({ channelId, pictures, onRemove }: Props) {
  const [large, setLarge] = useState<Attachment | null>(null);
  if (pictures.length === 0) return null;
  return (
    <ul className="pictures" aria-label="Pictures of the prompt">
      {pictures.map((a) => (
        <li key={a.id}>
          <button type="button" className="pictures-open" aria-label={`Show ${a.name}`} title={`${a.name}, ${a.width} × ${a.height}, ${byteSize(a.bytes)}`} onClick={() => setLarge(a)}>
            {tooLarge(a) ? <Named icon={<Image size={16} aria-hidden />} name={a.name} /> : <Picture channelId={channelId} picture={a} />}
          </button>
          {onRemove && <IconButton small name={`Remove ${a.name}`} onClick={() => onRemove(a.id)}><X size={12} /></IconButton>}
        </li>
      ))}
      {large && (
        <Modal title={large.name} wide onClose={() => setLarge(null)} description={`${large.width} × ${large.height}, ${byteSize(large.bytes)}`}>
          <div className="pictures-large"><Picture channelId={channelId} picture={large} /></div>
        </Modal>
      )}
    </ul>
  );
}

/** A picture, by its bytes: they come from Loop and never from an address. */
export function Picture({ channelId, picture }: { channelId: ChannelID; picture: Attachment }) {
  const [url, setUrl] = useState("");
  const [failed, setFailed] = useState("");
  useEffect(() => {
    let made = "";
    let gone = false;
    session().api.files.attachment(channelId, picture.id).then(
      (data) => {
        if (gone) return;
        const bytes = Uint8Array.from(atob(data ?? ""), (c) => c.charCodeAt(0));
        made = URL.createObjectURL(new Blob([bytes], { type: picture.type }));
        setUrl(made);
      },
      () => !gone && setFailed("It is not there any more."),
    );
    return () => {
      gone = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, [channelId, picture.id, picture.type]);
  if (failed) return <Named icon={<ImageOff size={16} aria-hidden />} name={picture.name} why={failed} />;
  if (!url) return <span className="pictures-none" aria-hidden />;
  return <img src={url} alt={picture.name} draggable={false} onError={() => setFailed("It cannot be shown.")} />;
}

/** What stands in the place of a picture that is not drawn. */
function Named({ icon, name, why }: { icon: ReactNode; name: string; why?: string }) {
  return (
    <span className="pictures-none">
      {icon}
      <span className="ellipsis"><SafeText text={name} /></span>
      {why && <span className="sr-only">{why}</span>}
    </span>
  );
}
