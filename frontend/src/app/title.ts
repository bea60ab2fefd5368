import { useEffect } from "react";
import { useStore } from "zustand";
import { needs } from "../model/desk";
import { frameStore, viewStore } from "../model/stores";
import { visible } from "../model/text";
import { setTitle } from "../shell/windowtitle";

/** The title of the window: what waits for the person, and the channel. */
export function useTitle() {
  const selected = useStore(viewStore, (v) => v.selected);
  const name = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === selected)?.name);
  const held = useStore(frameStore, (f) => needs(f.approvals, f.questions, f.channels).length);
  useEffect(() => {
    setTitle(`${held > 0 ? `(${held}) ` : ""}${name ? `${visible(name)} · ` : ""}Loop`);
  }, [name, held]);
}
