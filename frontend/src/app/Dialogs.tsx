import type { ComponentType } from "react";
import { useEffect } from "react";
import { useStore } from "zustand";
import { frameStore, viewStore } from "../model/stores";
import { RemoveDialog, RenameDialog } from "../features/channels/ChannelDialogs";
import { ChoicesDialog } from "../features/channels/ChoicesDialog";
import { WorktreeDialog } from "../features/channels/WorktreeDialog";
import { later, loadAll } from "../ui/Later";
import { Modal } from "../ui/Modal";
import { Palette } from "../features/palette/Palette";
import { closeDialog } from "../session/actions";

// These dialogs are loaded on their own, so that the first paint does not wait for them.
// The palette is not among them, because the first keys typed into it would be lost.
type Props = { onClose(): void };

/** What stands in the place of a dialog is a dialog too, so that typed keys do not reach the page behind. */
const dialogLater = <M,>(name: string, fetch: () => Promise<M>, pick: (m: M) => ComponentType<Props>) =>
  later(name, fetch, pick, { frame: (body, { onClose }, failed) => <Modal title={failed ? "Not loaded" : "Loading"} onClose={onClose}>{body}</Modal> });

const SettingsDialog = dialogLater("The settings", () => import("../features/settings/SettingsDialog"), (m) => m.SettingsDialog);
const FindDialog = dialogLater("The search", () => import("../features/find/FindDialog"), (m) => m.FindDialog);
const FolderDialog = dialogLater("The choice of a folder", () => import("../features/folder/FolderDialog"), (m) => m.FolderDialog);
const DoctorDialog = dialogLater("The list of checks", () => import("../features/doctor/DoctorDialog"), (m) => m.DoctorDialog);
const ShownFile = dialogLater("The file", () => import("../features/terminals/FileView"), (m) => m.ShownFile);
const ImageDialog = dialogLater("The dialog of the image", () => import("../features/image/ImageDialog"), (m) => m.ImageDialog);
const ToolchainDialog = dialogLater("The dialog of the project’s image", () => import("../features/image/ToolchainDialog"), (m) => m.ToolchainDialog);
const BuildOutputDialog = dialogLater("The output of the build", () => import("../features/image/BuildOutputDialog"), (m) => m.BuildOutputDialog);
const SessionsDialog = dialogLater("The list of conversations", () => import("../features/sessions/SessionsDialog"), (m) => m.SessionsDialog);
const RecordingsDialog = dialogLater("The list of recordings", () => import("../features/terminals/RecordingsDialog"), (m) => m.RecordingsDialog);
const ClaudeSetupDialog = dialogLater("The dialog of your set-up", () => import("../features/settings/ClaudeSetupDialog"), (m) => m.ClaudeSetupDialog);
const KeysDialog = dialogLater("The list of keys", () => import("../features/settings/KeysDialog"), (m) => m.KeysDialog);
const ThemesDialog = dialogLater("The list of themes", () => import("../features/settings/ThemesDialog"), (m) => m.ThemesDialog);
const ShortcutsDialog = dialogLater("The list of shortcuts", () => import("../features/palette/ShortcutsDialog"), (m) => m.ShortcutsDialog);

export function Dialogs() {
  // What is not there yet is loaded in a quiet moment after the first paint, so that it opens at once.
  useEffect(() => {
    const t = setTimeout(() => void loadAll().then(() => performance.mark("loaded ahead")), 1500);
    return () => clearTimeout(t);
  }, []);
  const dialog = useStore(viewStore, (v) => v.dialog);
  const id = useStore(viewStore, (v) => v.dialogChannel);
  const channel = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === id));
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
