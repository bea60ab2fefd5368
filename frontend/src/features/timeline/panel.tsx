import { List } from "lucide-react";
import type { PanelKind } from "../../dock/panels";
import { quietFace } from "../../dock/panels";
import { TIMELINE } from "../../model/dock/layout";
import { dockUi } from "../../model/dock/store";
import { TimelineTools } from "./TimelineTools";
import { later } from "../../ui/Later";

export const TimelinePanel = later("The timeline", () => import("./TimelinePanel"), (m) => m.TimelinePanel);

const FACE = { ...quietFace, title: "Timeline" };

function focusBox() {
  document.querySelector<HTMLElement>("[data-prompt]")?.focus();
}

export const timelinePanel: PanelKind<null> = {
  kind: TIMELINE, noun: "timeline",
  render: ({ channelId }) => <TimelinePanel channelId={channelId} />,
  tools: (channelId) => <TimelineTools channelId={channelId} />,
  face: () => FACE,
  icon: (_, size) => <List size={size} aria-hidden />,
  focus() {
    dockUi.setState({ keyboard: "" });
    focusBox();
    requestAnimationFrame(focusBox); // a timeline that was behind another tab is visible only now
  },
};
