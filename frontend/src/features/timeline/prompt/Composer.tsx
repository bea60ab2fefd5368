import { ArrowUp, Paperclip, Square } from "lucide-react";
import type { ClipboardEvent, KeyboardEvent } from "react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import type { ChannelID, PromptOptions } from "../../../api/types";
import { batonStore, givesBack } from "../../../model/browser/baton";
import { withoutReference } from "../../../model/browser/reference";
import { stretches } from "../../../model/mention";
import { picturesStore } from "../../../model/pictures";
import { connectionStore, draftsStore, frameStore, plansStore, timelineOf, timelinesStore } from "../../../model/stores";
import { activeRun } from "../../../model/timeline/state";
import { NO_WISH, wishesStore, wishOptions } from "../../../model/wish";
import { Button, IconButton, Kbd, KeyOf } from "../../../ui/Button";
import { ContextMeter } from "../../../ui/Ring";
import { composing, mod, pressed, useAriaKeys, useKeyText } from "../../../ui/keys";
import { send, stopRun, toggleFresh } from "../../../session/actions";
import { draftOf, planOf, setDraft, setPlan, setWish, takeBack, wishIn } from "../../../session/drafts";
import { picturesOf, removePicture, setPictures } from "../../../session/pictures";
import { warm } from "../../../session/warm";
import { Pictures } from "../Pictures";
import { QuestionCard } from "../question/QuestionCard";
import { clipboardFiles, hiddenFiles, itemsOf, pastedFiles } from "../../../session/bring";
import { useFileDrop } from "../../../session/useFileDrop";
import { attach, attaching, attachOf, attachStore, dismiss, insertText, knowBox } from "./attach";
import { AnswerFirst } from "./AnswerFirst";
import { Attaching } from "./Attaching";
import { Banner } from "./Banner";
import type { OpenChip } from "./Chips";
import { Chips } from "./Chips";
import { CommandList } from "./CommandList";
import { ComingBack } from "./ComingBack";
import { HeldCalls } from "./HeldCalls";
import { HistorySearch } from "./HistorySearch";
import { MentionList } from "./MentionList";
import { Mirror } from "./Mirror";
import { QueueList } from "./QueueList";
import { References } from "./References";
import { SetupLine } from "./SetupLine";
import { SendOptions } from "./SendOptions";
import { useCommands } from "./useCommands";
import { useGrowing } from "./useGrowing";
import { useHistory } from "./useHistory";
import { useMention } from "./useMention";
import "./prompt.css";

export function Composer({ channelId }: { channelId: ChannelID }) {
  const channel = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === channelId));
  const running = useStore(timelinesStore, (all) => activeRun(timelineOf(all, channelId))?.runId ?? "");
  const online = useStore(connectionStore, (c) => c.state === "online");
  const text = useStore(draftsStore, (d) => draftOf(d, channelId));
  const parked = useStore(frameStore, (f) => f.questions.some((q) => q.channel_id === channelId));
  const [offered, setOffered] = useState(""); // the text of which Enter asked whether it is the answer
  const asked = parked && offered !== "" && offered === text;
  const answer = useRef<(() => void) | null>(null);
  const [stopping, setStopping] = useState("");
  const stopAria = useAriaKeys("page.stop");
  const stopKey = useKeyText()("page.stop");
  const plan = useStore(plansStore, (all) => planOf(all, channelId));
  const wish = useStore(wishesStore, (all) => wishIn(all, channelId));
  const [chip, setChip] = useState<OpenChip>("");
  const [searching, setSearching] = useState(false);
  const pictures = useStore(picturesStore, (all) => picturesOf(all, channelId));
  const box = useRef<HTMLTextAreaElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const area = useRef<HTMLDivElement>(null);
  const onTheWay = useStore(attachStore, (all) => attachOf(all, channelId).of > 0);
  const { over, handlers } = useFileDrop(area, (d) => {
    const items = itemsOf(d);
    box.current?.focus();
    if (items.length > 0) attach(channelId, items);
    else if (d.text) insertText(channelId, d.text);
  });
  const gives = useStore(batonStore, (all) => givesBack(all, channelId)); // the agent waits for the browser
  const busy = running !== "" || (channel?.state === "working" && !channel.talking);

  const change = (value: string) => setDraft(channelId, value);
  const type = (value: string) => {
    if (value.trim()) warm(channelId);
    change(value);
  };

  const { mention, onKey: mentionKey, look, leave, caret } = useMention(channelId, box, text, change);
  const { commands, onKey: commandKey } = useCommands(channelId, box, text, caret, change, () => enter(false));
  const history = useHistory(channelId, running, box, text, change);
  const parts = useMemo(() => stretches(text), [text]);
  const mirrored = parts.some((p) => p.mention);
  const chosen = mention?.found?.files.length ? `${mention.id}-${mention.active}` : commands?.total ? `${commands.id}-${commands.active}` : undefined;

  useGrowing(box, text);

  useEffect(() => (box.current ? knowBox(channelId, box.current) : undefined), [channelId]);

  function submit(options: PromptOptions = {}) {
    if (!text.trim() || attaching(channelId)) return;
    dismiss(channelId);
    const attachments = pictures.length > 0 ? { attachments: pictures } : {};
    send(channelId, text, { ...options, ...wishOptions(wish), ...attachments, ...(plan ? { plan } : {}) });
    setPictures(channelId, []);
    if (gives) batonStore.getState()[channelId]?.give();
    setPlan(channelId, false);
    setWish(channelId, NO_WISH);
    history.sent();
    setOffered("");
    change("");
  }

  function enter(hard: boolean) {
    if (parked && text.trim() && !hard && !plan && pictures.length === 0 && Object.keys(wishOptions(wish)).length === 0) { // what is chosen for a prompt is one
      if (asked) answer.current?.();
      else setOffered(text);
    } else submit(hard && busy ? { interrupt: true } : {});
  }

  async function stop() {
    setStopping(running || "yes");
    await stopRun(channelId);
    setStopping("");
  }

  const openChip = (which: OpenChip) => setChip(channel?.kind === "demo" ? "" : which);
  const does: Record<string, () => void> = {
    "prompt.attach": () => chooser.current?.click(), "prompt.plan": () => setPlan(channelId, !plan), "prompt.fresh": () => toggleFresh(channelId),
    "prompt.model": () => openChip("model"), "prompt.effort": () => openChip("effort"), "prompt.history": () => setSearching(true),
  };
  function onKey(e: KeyboardEvent<HTMLTextAreaElement>) {
    if (composing(e) || mentionKey(e) || commandKey(e)) return;
    const own = does[pressed("prompt", e)];
    if (own) {
      e.preventDefault();
      own();
      return;
    }
    if (e.key === "Enter" && !e.shiftKey && !e.altKey) {
      e.preventDefault();
      enter(mod(e.nativeEvent));
    } else if (e.key === "Escape" && asked) {
      e.preventDefault();
      setOffered("");
    } else if ((e.key === "ArrowUp" || e.key === "ArrowDown") && !e.shiftKey && !e.altKey && !e.ctrlKey && !e.metaKey && history.walk(e.key === "ArrowUp")) e.preventDefault();
  }

  function onPaste(e: ClipboardEvent) {
    const files = pastedFiles(e.clipboardData);
    if (files.length > 0) attach(channelId, itemsOf({ paths: [], files, text: "" }));
    else if (hiddenFiles(e.clipboardData)) void clipboardFiles().then((d) => attach(channelId, itemsOf(d)));
    else return;
    e.preventDefault();
  }

  return (
    <div className="composer">
      <div className="column">
      <Banner channelId={channelId} />
      <SetupLine channelId={channelId} />
      <HeldCalls channelId={channelId} />
      <QuestionCard channelId={channelId} />
      <QueueList channelId={channelId} onEdit={(letter) => { takeBack(letter); box.current?.focus(); }} />
      <AnswerFirst key={channelId} channelId={channelId} offer={{ asked, give: answer }} onPrompt={() => { submit(); box.current?.focus(); }} />
      <Attaching channelId={channelId} />
      {mention && <MentionList mention={mention} />}
      {commands && <CommandList commands={commands} />}
      {searching && (
        <HistorySearch
          channelId={channelId} onClose={() => setSearching(false)} onBack={() => box.current?.focus()}
          onChoose={(found, i) => { setSearching(false); box.current?.focus(); history.take(found, i); }}
        />
      )}
      <div className={`prompt-box ${over ? "over" : ""}`} data-region="prompt" ref={area} {...handlers}>
        <References channelId={channelId} text={text} onRemove={(words) => { change(withoutReference(text, words)); box.current?.focus(); }} />
        <Pictures channelId={channelId} pictures={pictures} onRemove={(id) => { removePicture(channelId, id); box.current?.focus(); }} />
        <ComingBack channelId={channelId} />
        <div className="prompt-text">
          {mirrored && <Mirror parts={parts} typedAt={mention?.from ?? -1} box={box} />}
          <textarea
            ref={box}
            data-prompt
            dir="auto"
            rows={1}
            className={mirrored ? "prompt-mirrored" : undefined}
            value={text}
            placeholder={pictures.length > 0 ? "Say what to do with it" : busy || parked ? "Say what comes next; it waits in the queue" : "Ask for a change"}
            aria-label="Prompt"
            spellCheck
            onChange={(e) => { history.typed(); type(e.target.value); look(); }}
            onSelect={look}
            onBlur={leave}
            aria-autocomplete="list"
            aria-controls={chosen?.replace(/-\d+$/u, "")}
            aria-activedescendant={chosen}
            onKeyDown={onKey}
            onPaste={onPaste}
          />
        </div>
        <div className="prompt-foot">
          <input ref={chooser} type="file" multiple hidden onChange={(e) => { const files = [...(e.target.files ?? [])]; e.target.value = ""; box.current?.focus(); attach(channelId, itemsOf({ paths: [], files, text: "" })); }} />
          <IconButton small name="Attach files" action="prompt.attach" onClick={() => chooser.current?.click()}><Paperclip size={14} /></IconButton>
          <Chips channelId={channelId} plan={plan} open={chip} onOpen={setChip} />
          <span className="prompt-hint">
            <Kbd>Enter</Kbd> {busy || parked ? "queues" : "sends"} <Kbd>Shift Enter</Kbd> new line
          </span>
          <ContextMeter context={channel?.context} fresh={wish.fresh || channel?.next_session?.mode === "fresh"} />
          {busy && (
            <Button onClick={() => void stop()} disabled={stopping !== ""} aria-keyshortcuts={stopAria} title={stopKey ? `Stop the run (${stopKey})` : "Stop the run"}>
              <Square size={12} aria-hidden />
              <span className="prompt-word">{stopping ? "Stopping" : "Stop"}</span>
              <KeyOf of="page.stop" />
            </Button>
          )}
          <Button look="primary" disabled={!text.trim() || onTheWay} onClick={() => submit()} title={onTheWay ? "Wait until the files are in the container" : online ? undefined : "The prompt goes out when Loop answers again"}>
            <ArrowUp size={14} aria-hidden />
            <span className="prompt-word">{gives ? "Send and give back" : busy || parked ? "Queue" : "Send"}</span>
          </Button>
          <SendOptions busy={busy} disabled={!text.trim() || onTheWay} plan={plan} onPlan={(on) => setPlan(channelId, on)} onSend={submit} />
        </div>
      </div>
      </div>
    </div>
  );
}
