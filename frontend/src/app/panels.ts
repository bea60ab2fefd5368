// All kinds of panels. A new kind is a folder in features that has a value of this type,
// and one line here.
import type { PanelKind } from "../dock/panels";
import { browserPanel } from "../features/browser/panel";
import { containersPanel } from "../features/containers/panel";
import { decisionsPanel } from "../features/decisions/panel";
import { filesPanel } from "../features/files/panel";
import { reviewPanel } from "../features/review/panel";
import { playbackPanel } from "../features/playback/panel";
import { waitingPanel } from "../features/gate/panel";
import { rulesPanel } from "../features/rules/panel";
import { workspacePanel } from "../features/workspace/panel";
import { terminalPanel } from "../features/terminals/panel";
import { timelinePanel } from "../features/timeline/panel";

export const PANELS: readonly PanelKind[] = [timelinePanel, terminalPanel, browserPanel, filesPanel, reviewPanel, workspacePanel, waitingPanel, decisionsPanel, rulesPanel, containersPanel, playbackPanel];
