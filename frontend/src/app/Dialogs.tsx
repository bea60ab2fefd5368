import type { ComponentType } from "react";
import { lazy, Suspense, useEffect } from "react";
import { useStore } from "zustand";
import { frameStore, viewStore } from "../model/stores";
import { RemoveDialog, RenameDialog } from "../features/channels/ChannelDialogs";
import { ChoicesDialog } from "../features/channels/ChoicesDialog";
import { WorktreeDialog } from "../features/channels/WorktreeDialog";
import { Modal } from "../ui/Modal";
import { Palette } from "../features/palette/Palette";
import { closeDialog } from "../session/actions";

// These dialogs are loaded on their own, so that the first paint does not wait for them.
// The palette is not among them, because the first keys typed into it would be lost.
const loaders = {
  SettingsDialog: () => import("../features/settings/SettingsDialog").then((m) => m.SettingsDialog),
  FindDialog: () => import("../features/find/FindDialog").then((m) => m.FindDialog),
  FolderDialog: () => import("../features/folder/FolderDialog").then((m) => m.FolderDialog),
  DoctorDialog: () => import("../features/doctor/DoctorDialog").then((m) => m.DoctorDialog),
  ShownFile: () => import("../features/terminals/FileView").then((m) => m.ShownFile),
  ImageDialog: () => import("../features/image/ImageDialog").then((m) => m.ImageDialog),
  ToolchainDialog: () => import("../features/image/ToolchainDialog").then((m) => m.ToolchainDialog),
  BuildOutputDialog: () => import("../features/image/BuildOutputDialog").then((m) => m.BuildOutputDialog),
  SessionsDialog: () => import("../features/sessions/SessionsDialog").then((m) => m.SessionsDialog),
  RecordingsDialog: () => import("../features/terminals/RecordingsDialog").then((m) => m.RecordingsDialog),
  ClaudeSetupDialog: () => import("../features/settings/ClaudeSetupDialog").then((m) => m.ClaudeSetupDialog),
  KeysDialog: () => import("../features/settings/KeysDialog").then((m) => m.KeysDialog),
  ThemesDialog: () => import("../features/settings/ThemesDialog").then((m) => m.ThemesDialog),
  ShortcutsDialog: () => import("../features/palette/ShortcutsDialog").then((m) => m.ShortcutsDialog),
};
type Props = { onClose(): void };

/** Loads a second time, because a change of the network may have broken the first try. */
async function again<T>(load: () => Promise<T>): Promise<T> {
  await new Promise((r) => setTimeout(r, 400));
  return load();
}

const later = (load: () => Promise<ComponentType<Props>>) => lazy(async () => ({ default: await load().catch(() => again(load)) }));
const SettingsDialog = later(loaders.SettingsDialog);
const FindDialog = later(loaders.FindDialog);
const FolderDialog = later(loaders.FolderDialog);
const DoctorDialog = later(loaders.DoctorDialog);
const ShownFile = later(loaders.ShownFile);
const ImageDialog = later(loaders.ImageDialog);
const ToolchainDialog = later(loaders.ToolchainDialog);
const BuildOutputDialog = later(loaders.BuildOutputDialog);
const SessionsDialog = later(loaders.SessionsDialog);
const RecordingsDialog = later(loaders.RecordingsDialog);
const ClaudeSetupDialog = later(loaders.ClaudeSetupDialog);
const KeysDialog = later(loaders.KeysDialog);
const ThemesDialog = later(loaders.ThemesDialog);
const ShortcutsDialog = later(loaders.ShortcutsDialog);

export function Dialogs() {
  // All dialogs are loaded in a quiet moment after the first paint, so that they open at once.
  useEffect(() => {
    const t = setTimeout(() => void Promise.allSettled(Object.values(loaders).map((load) => load())), 1500);
    return () => clearTimeout(t);
  }, []);
  const dialog = useStore(viewStore, (v) => v.dialog);
  const id = useStore(viewStore, (v) => v.dialogChannel);
  const channel = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === id));
  // The fallback is a dialog too, so that typed keys do not reach the page behind.
  return <Suspense fallback={<Modal title="Loading" onClose={closeDialog}><div className="skeleton" aria-hidden="true" /></Modal>}>{pick()}</Suspense>;

  function pick() {
    switch (dialog) {
      case "palette":
        return <Palette />;
      case "settings":
        return <SettingsDialog onClose={closeDialog} />;
      case "find":
        return <FindDialog onClose={closeDialog} />;
      case "folder":
        return <FolderDialog onClose={closeDialog} />;
      case "doctor":
        return <DoctorDialog onClose={closeDialog} />;
      case "file":
        return <ShownFile onClose={closeDialog} />;
      case "image":
        return <ImageDialog onClose={closeDialog} />;
      case "toolchain":
        return <ToolchainDialog onClose={closeDialog} />;
      case "output":
        return <BuildOutputDialog onClose={closeDialog} />;
      case "setup":
        return <ClaudeSetupDialog onClose={closeDialog} />;
      case "keys":
        return <KeysDialog onClose={closeDialog} />;
      case "themes":
        return <ThemesDialog onClose={closeDialog} />;
      case "shortcuts":
        return <ShortcutsDialog onClose={closeDialog} />;
      case "worktree":
        return channel ? <WorktreeDialog channel={channel} onClose={closeDialog} /> : null;
      case "sessions":
        return <SessionsDialog onClose={closeDialog} />;
      case "recordings":
        return <RecordingsDialog onClose={closeDialog} />;
      case "rename":
        return channel ? <RenameDialog channel={channel} onClose={closeDialog} /> : null;
      case "choices":
        return channel ? <ChoicesDialog channel={channel} onClose={closeDialog} /> : null;
      case "remove":
        return channel ? <RemoveDialog channel={channel} onClose={closeDialog} /> : null;
      default:
        return null;
    }
  }
}
