import { lazy, Suspense } from "react";
import { useStore } from "zustand";
import { frameStore, viewStore } from "../../model/stores";
import { RemoveDialog, RenameDialog } from "../channels/ChannelDialogs";
import { closeDialog } from "./actions";

// Dialogs are fetched when first opened: the first paint does not wait for them.
const Palette = lazy(() => import("../palette/Palette").then((m) => ({ default: m.Palette })));
const SettingsDialog = lazy(() => import("../settings/SettingsDialog").then((m) => ({ default: m.SettingsDialog })));
const FolderDialog = lazy(() => import("../folder/FolderDialog").then((m) => ({ default: m.FolderDialog })));
const DoctorDialog = lazy(() => import("../doctor/DoctorDialog").then((m) => ({ default: m.DoctorDialog })));
const ContainersDialog = lazy(() => import("../containers/ContainersDialog").then((m) => ({ default: m.ContainersDialog })));
const ImageDialog = lazy(() => import("../image/ImageDialog").then((m) => ({ default: m.ImageDialog })));
const ShortcutsDialog = lazy(() => import("../palette/ShortcutsDialog").then((m) => ({ default: m.ShortcutsDialog })));

export function Dialogs() {
  const dialog = useStore(viewStore, (v) => v.dialog);
  const id = useStore(viewStore, (v) => v.dialogChannel);
  const channel = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === id));
  return <Suspense fallback={null}>{pick()}</Suspense>;

  function pick() {
    switch (dialog) {
      case "palette":
        return <Palette />;
      case "settings":
        return <SettingsDialog onClose={closeDialog} />;
      case "folder":
        return <FolderDialog onClose={closeDialog} />;
      case "doctor":
        return <DoctorDialog onClose={closeDialog} />;
      case "containers":
        return <ContainersDialog onClose={closeDialog} />;
      case "image":
        return <ImageDialog onClose={closeDialog} />;
      case "shortcuts":
        return <ShortcutsDialog onClose={closeDialog} />;
      case "rename":
        return channel ? <RenameDialog channel={channel} onClose={closeDialog} /> : null;
      case "remove":
        return channel ? <RemoveDialog channel={channel} onClose={closeDialog} /> : null;
      default:
        return null;
    }
  }
}
