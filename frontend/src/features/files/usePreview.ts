import { fileOpened } from "../../model/recents";
import { useEffect, useState } from "react";
import { toFailure } from "../../api/failure";
import type { ChannelID, Failure, FileContent } from "../../api/types";
import { useSettled } from "../../dock/useSettled";
import { LOOK_BYTES, PICTURE_BYTES, previewOf } from "../../model/file-preview";
import type { Preview } from "../../model/file-preview";
import { session } from "../../session/session";
import { bytesOf, textOf } from "./decode";

const WALKING_MS = 150; // who walks through the tree looks at the file at which they stop

export type Shown = { path: string; content: FileContent; preview: Preview };

function seen(c: FileContent): Preview {
  const bytes = bytesOf(c.data ?? "");
  return previewOf(c, bytes, textOf(bytes, c.whole));
}

/** What is in a file. times: another number reads it again; the file stays in sight meanwhile. */
export function usePreview(channelId: ChannelID, file: string, times: number) {
  const path = useSettled(file, WALKING_MS);
  const [shown, setShown] = useState<Shown | null>(null);
  const [failed, setFailed] = useState<{ path: string; failure: Failure } | null>(null);
  useEffect(() => {
    if (!path) return;
    let over = false;
    const { files } = session().api;
    const look = async () => {
      let content = await files.read(channelId, path, LOOK_BYTES);
      fileOpened(channelId, content.path, Date.now());
      let preview = seen(content);
      if (preview.kind === "part" && !over) {
        content = await files.read(channelId, path, PICTURE_BYTES);
        preview = seen(content);
      }
      if (over) return;
      setShown({ path, content, preview });
      setFailed(null);
    };
    look().catch((err: unknown) => !over && setFailed({ path, failure: toFailure(err) }));
    return () => {
      over = true;
    };
  }, [channelId, path, times]);
  return { shown: shown?.path === file ? shown : null, failure: failed?.path === file ? failed.failure : null };
}
