import { Bell, BellOff, Boxes, CircleHelp, CircleStop, Contrast, CornerDownRight, FileText, Film, Folder, FolderPlus, GitBranch, Hammer, HeartPulse, History, Home, Keyboard, LayoutGrid, MessageSquare, MessageSquarePlus, Moon, PackagePlus, PanelLeft, Pencil, Play, Power, ScrollText, Settings2, SlidersHorizontal, Sun, SunMoon, SwatchBook, TextCursorInput, TextSearch, Trash2, UserRoundCog } from "lucide-react";
import { Command } from "cmdk";
import { Dialog } from "radix-ui";
import type { ReactNode } from "react";
import { useState } from "react";
import { useStore } from "zustand";
import { clockWords } from "../../model/playback/lanes";
import { parseRunLink } from "../../model/playback/runlink";
import { frameStore, viewStore } from "../../model/stores";
import { visible } from "../../model/text";
import { Kbd } from "../../ui/Button";
import { keyText } from "../../ui/keys";
import { front } from "../../ui/layer";
import { ModalFrame } from "../../ui/Modal";
import { StateWord } from "../../ui/StateWord";
import { buildImage, closeDialog, focusPrompt, openContainers, openDemo, openDialog, openFolder, select, setContrast, setDoNotDisturb, setTheme, stopRun, toggleSidebar } from "../../session/actions";
import { dockCommands } from "../../dock/commands";
import { newThread } from "../../session/branches";
import { clock } from "../../model/clock";
import { nameOf } from "../../model/file-tree";
import { parseRowLink } from "../../model/rowlink";
import { followRowLink } from "../../session/rowlink";
import { openFile } from "../../session/openfile";
import { useFiles } from "./useFiles";
import { openDesk } from "../../session/desk";
import { openFind, openFindBar } from "../../session/find";
import { nextNeed } from "../../session/gate";
import { followRunLink } from "../../session/playback";
import { useChannels } from "../../session/useChannels";
import { canQuit, quit } from "../../session/leave";
import "./palette.css";

/** The palette: it finds channels and then commands by their names. */
export function Palette() {
  const channels = useChannels();
  const [query, setQuery] = useState("");
  const link = parseRunLink(query);
  const rowLink = parseRowLink(query);
  const selected = useStore(viewStore, (v) => v.selected);
  const contrast = useStore(viewStore, (v) => v.contrast);
  const quiet = useStore(frameStore, (f) => f.config?.do_not_disturb === true);
  const themes = useStore(frameStore, (f) => f.config?.themes);
  const current = channels.find((c) => c.channel_id === selected);
  const files = useFiles(selected, link || rowLink ? "" : query);
  const run = (f: () => void) => () => {
    front.after(f);
    closeDialog();
  };
  return (
    <ModalFrame className="palette" onClose={closeDialog}>
      <Dialog.Title className="sr-only">Go to channel or command</Dialog.Title>
      <Command label="Go to channel or command" loop>
        <Command.Input placeholder="Go to channel, file or command" value={query} onValueChange={setQuery} />
        <Command.List>
          {files.length === 0 && <Command.Empty>Nothing by that name.</Command.Empty>}
          {link && <Item icon={<Film size={14} aria-hidden />} value={query} name={`Play the run back from ${clockWords(link.at)}`} onSelect={run(() => followRunLink(link))} />}
          {rowLink && <Item icon={<CornerDownRight size={14} aria-hidden />} value={query} name={`Go to the item of ${clock(rowLink.at)}`} onSelect={run(() => void followRowLink(rowLink))} />}
          {channels.length > 0 && (
            <Command.Group heading="Channels">
              {channels.map((c) => (
                <Command.Item key={c.channel_id} value={`${c.name} ${c.channel_id}`} keywords={[c.dir]} onSelect={run(() => { select(c.channel_id); focusPrompt(); })}>
                  <KindIcon kind={c.kind} />
                  <span>{visible(c.name)}</span>
                  <span className="palette-dir mono ellipsis">{visible(c.dir)}</span>
                  <StateWord state={c.state} driven={c.driven === true} since={c.running_since} queued={c.queued} />
                </Command.Item>
              ))}
            </Command.Group>
          )}
          {current && (
            <Command.Group heading="This channel">
              {((current.state === "working" && !current.talking) || current.driven) && <Item icon={<CircleStop size={14} aria-hidden />} name="Stop the run" hint={keyText("page.stop")} onSelect={run(() => void stopRun(selected))} />}
              <Item icon={<MessageSquarePlus size={14} aria-hidden />} name="New thread" onSelect={run(() => void newThread(selected))} />
              {current.kind !== "demo" && <Item icon={<GitBranch size={14} aria-hidden />} name="New worktree" onSelect={run(() => openDialog("worktree", selected))} />}
              <Item icon={<History size={14} aria-hidden />} name="Conversations" onSelect={run(() => openDialog("sessions", selected))} />
              <Item icon={<TextCursorInput size={14} aria-hidden />} name="Go to the prompt box" hint={keyText("page.prompt")} onSelect={run(focusPrompt)} />
              <Item icon={<Pencil size={14} aria-hidden />} name="Rename channel" hint={keyText("tree.rename")} onSelect={run(() => openDialog("rename", selected))} />
              {current.kind !== "demo" && <Item icon={<SlidersHorizontal size={14} aria-hidden />} name="Model, agent and folders" onSelect={run(() => openDialog("choices", selected))} />}
              <Item icon={<Trash2 size={14} aria-hidden />} name="Remove channel" hint={keyText("tree.remove")} onSelect={run(() => openDialog("remove", selected))} />
            </Command.Group>
          )}
          {current && (
            <Command.Group heading="Terminals and panes">
              {dockCommands(selected).map((c) => <Item key={c.id} value={`${c.name} ${c.id}`} icon={c.icon} name={c.name} {...(c.hint ? { hint: c.hint } : {})} onSelect={run(c.run)} />)}
            </Command.Group>
          )}
          <Command.Group heading="Loop">
            <Item icon={<CircleHelp size={14} aria-hidden />} name="Go to what needs you" hint={keyText("page.next-waiting")} onSelect={run(() => nextNeed())} />
            <Item icon={<LayoutGrid size={14} aria-hidden />} name="Desk: all channels" hint={keyText("page.desk") || twice(keyText("page.next-waiting"))} onSelect={run(openDesk)} />
            {current && <Item icon={<TextSearch size={14} aria-hidden />} name="Find in the timeline" hint={keyText("page.find")} onSelect={run(openFindBar)} />}
            <Item icon={<TextSearch size={14} aria-hidden />} name="Find in all that was said and done" hint={keyText("page.find-all")} onSelect={run(() => openFind())} />
            <Item icon={<FolderPlus size={14} aria-hidden />} name="Open a project folder" hint={keyText("page.open-folder")} onSelect={run(() => void openFolder())} />
            <Item icon={<Play size={14} aria-hidden />} name="Open the demo channel" onSelect={run(() => void openDemo())} />
            <Item icon={<Home size={14} aria-hidden />} name="Welcome page" onSelect={run(() => select(""))} />
            <Item icon={<HeartPulse size={14} aria-hidden />} name="Run the checks" onSelect={run(() => openDialog("doctor"))} />
            <Item icon={<Hammer size={14} aria-hidden />} name="Build the agent image" onSelect={run(() => void buildImage())} />
            {current && <Item icon={<PackagePlus size={14} aria-hidden />} name="The project's own image" onSelect={run(() => openDialog("toolchain"))} />}
            <Item icon={<ScrollText size={14} aria-hidden />} name="Output of the last build" onSelect={run(() => openDialog("output"))} />
            {!current && <Item icon={<Boxes size={14} aria-hidden />} name="Containers" onSelect={run(openContainers)} />}
            <Item icon={<Settings2 size={14} aria-hidden />} name="Settings" hint={keyText("page.settings")} onSelect={run(() => openDialog("settings"))} />
            <Item icon={<UserRoundCog size={14} aria-hidden />} name="Your Claude set-up" onSelect={run(() => openDialog("setup"))} />
            <Item icon={<PanelLeft size={14} aria-hidden />} name="Show or hide the sidebar" hint={keyText("page.sidebar")} onSelect={run(toggleSidebar)} />
            <Item icon={quiet ? <Bell size={14} aria-hidden /> : <BellOff size={14} aria-hidden />} name={quiet ? "Notifications: show them again" : "Notifications: do not disturb"} onSelect={run(() => void setDoNotDisturb(!quiet))} />
            <Item icon={<Keyboard size={14} aria-hidden />} name="Keyboard shortcuts" hint={keyText("page.shortcuts")} onSelect={run(() => openDialog("shortcuts"))} />
            <Item icon={<Keyboard size={14} aria-hidden />} name="Change keys" onSelect={run(() => openDialog("keys"))} />
            {canQuit() && <Item icon={<Power size={14} aria-hidden />} name="Quit Loop" hint={keyText("page.quit")} onSelect={run(() => void quit())} />}
          </Command.Group>
          <Command.Group heading="Look">
            <Item icon={<Moon size={14} aria-hidden />} name="Theme: dark" onSelect={run(() => void setTheme("dark"))} />
            <Item icon={<Sun size={14} aria-hidden />} name="Theme: light" onSelect={run(() => void setTheme("light"))} />
            <Item icon={<SunMoon size={14} aria-hidden />} name="Theme: like the system" onSelect={run(() => void setTheme("system"))} />
            {themes?.map((t) => <Item key={t} icon={<SwatchBook size={14} aria-hidden />} value={`Theme: ${t}`} name={`Theme: ${visible(t)}`} onSelect={run(() => void setTheme(t))} />)}
            <Item icon={<SwatchBook size={14} aria-hidden />} name="Themes: import, choose, remove" onSelect={run(() => openDialog("themes"))} />
            <Item icon={<Contrast size={14} aria-hidden />} name={contrast === "more" ? "Contrast: like the system" : "Contrast: more"} onSelect={run(() => setContrast(contrast === "more" ? "" : "more"))} />
          </Command.Group>
          {files.length > 0 && (
            <Command.Group heading="Files of the container" forceMount>
              {files.map((f) => (
                <Command.Item key={f.path} value={`file ${f.path}`} forceMount onSelect={run(() => void openFile(selected, { path: f.path, line: 0 }))}>
                  <FileText size={14} aria-hidden />
                  <span>{visible(nameOf(f.path))}</span>
                  <span className="palette-dir mono ellipsis">{visible(f.path.slice(0, -nameOf(f.path).length).replace(/\/$/, ""))}</span>
                </Command.Item>
              ))}
            </Command.Group>
          )}
          {query.trim().length > 1 && !link && !rowLink && (
            <Command.Group heading="Said and done" forceMount>
              <Command.Item value={`find ${query}`} forceMount onSelect={run(() => openFind(query.trim()))}>
                <TextSearch size={14} aria-hidden />
                <span>Find these words in all that was said and done</span>
              </Command.Item>
            </Command.Group>
          )}
        </Command.List>
      </Command>
    </ModalFrame>
  );
}

function KindIcon({ kind }: { kind: string }) {
  switch (kind) {
    case "demo":
      return <Play size={14} aria-hidden />;
    case "thread":
      return <MessageSquare size={14} aria-hidden />;
    case "worktree":
      return <GitBranch size={14} aria-hidden />;
    default:
      return <Folder size={14} aria-hidden />;
  }
}

function Item({ icon, name, value = name, hint, onSelect }: { icon: ReactNode; name: string; value?: string; hint?: string; onSelect(): void }) {
  return (
    <Command.Item value={value} onSelect={onSelect}>
      {icon}
      <span>{name}</span>
      {hint && <Kbd>{hint}</Kbd>}
    </Command.Item>
  );
}

const twice = (key: string) => (key ? `${key} ${key}` : "");
