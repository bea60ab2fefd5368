import { GitCompareArrows } from "lucide-react";
import { openPanel } from "../../dock/dock";
import type { PanelKind } from "../../dock/panels";
import { quietFace } from "../../dock/panels";
import { visit } from "../../dock/visit";
import type { ReviewKept } from "../../model/review";
import { readKept, REVIEW_PANEL, reviewCountStore } from "../../model/review";
import { viewStore } from "../../model/stores";
import { later } from "../../ui/Later";

const ReviewPanel = later("The review", () => import("./ReviewPanel"), (m) => m.ReviewPanel);

/** The panel of what changed in a channel's folder. */
export const reviewPanel: PanelKind<ReviewKept | null> = {
  kind: REVIEW_PANEL, noun: "review",
  render: ({ channelId, panel }) => <ReviewPanel key={channelId} channelId={channelId} panelId={panel.id} kept={panel.data} />,
  face() {
    const n = reviewCountStore.getState()[viewStore.getState().selected] ?? 0;
    return { ...quietFace, title: n > 0 ? `Review ${n}` : "Review" };
  },
  icon: (_, size) => <GitCompareArrows size={size} aria-hidden />,
  store: (kept) => kept ?? {},
  load: readKept,
  key: () => REVIEW_PANEL,
  focus: ({ id }) => visit(id, ".review-list", ".review"),
  opens: () => [{ id: "review", name: "Open: review of what changed", label: "Review", icon: <GitCompareArrows size={14} aria-hidden />, run: () => openPanel({ kind: REVIEW_PANEL, data: null }) }],
  keys: {
    place: "review",
    rows: () => [{ keys: "↑ ↓", does: "Another file, or in the changes another line" }, { keys: "Esc", does: "Back to the list, then to where you were" }],
  },
};
