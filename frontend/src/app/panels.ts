// Every kind of panel there is: a new one is a folder of features with a value of
// this type, and one line here.
import type { PanelKind } from "../dock/panels";
import { terminalPanel } from "../features/terminals/panel";
import { timelinePanel } from "../features/timeline/panel";

export const PANELS: readonly PanelKind[] = [timelinePanel, terminalPanel];
