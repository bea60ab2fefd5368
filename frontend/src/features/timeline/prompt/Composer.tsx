import { ArrowUp, Paperclip, Sparkles, Square } from "lucide-react";
import type { ClipboardEvent, KeyboardEvent, ReactNode } from "react";
import { useEffect, useRef, useState } from "react";
import { useStore } from "zustand";
import type { ChannelID, PromptOptions } from "../../../api/types";
import { batonStore, givesBack } from "../../../model/browser/baton";
import { withoutReference } from "../../../model/browser/reference";
import { modelName } from "../../../model/format";
import { picturesStore } from "../../../model/pictures";
import { connectionStore, draftsStore, frameStore, plansStore, timelineOf, timelinesStore } from "../../../model/stores";
import { visible } from "../../../model/text";
import { activeRun } from "../../../model/timeline/state";
import { Button, IconButton, Kbd } from "../../../ui/Button";
import { ContextMeter } from "../../../ui/Ring";
import { composing, keys, mod, MOD } from "../../../ui/keys";
import { send, stopRun } from "../../../session/actions";
import { draftOf, planOf, setDraft, setPlan, takeBack } from "../../../session/drafts";
import { session } from "../../../session/session";
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
import { ComingBack } from "./ComingBack";
import { HeldCalls } from "./HeldCalls";
import { MentionList } from "./MentionList";
import { QueueList } from "./QueueList";
import { References } from "./References";
import { SetupLine } from "./SetupLine";
import { SendOptions } from "./SendOptions";
import { useGrowing } from "./useGrowing";
import { useMention } from "./useMention";
import "./prompt.css";

const HISTORY = 50; // prompts of this channel within reach of the arrow keys

export function Composer({ channelId }: { channelId: ChannelID }) {
  const channel = useStore(frameStore, (f) => f.channels.find((c) => c.channel_id === channelId));
  const running = useStore(timelinesStore, (all) => activeRun(timelineOf(all, channelId))?.runId ?? "");
  const lastModel = useStore(timelinesStore, (all) => Object.values(timelineOf(all, channelId).built.runs).findLast((r) => r.model)?.model ?? "");
  const online = useStore(connectionStore, (c) => c.state === "online");
  const text = useStore(draftsStore, (d) => draftOf(d, channelId));
  const parked = useStore(frameStore, (f) => f.questions.some((q) => q.channel_id === channelId));
  const [stopping, setStopping] = useState("");
  const plan = useStore(plansStore, (all) => planOf(all, channelId));
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
  const history = useRef<{ list: string[]; at: number; draft: string }>({ list: [], at: -1, draft: "" });
  const gives = useStore(batonStore, (all) => givesBack(all, channelId)); // the agent waits for the browser
  const busy = running !== "" || channel?.state === "working";

  const change = (value: string) => setDraft(channelId, value);
  const type = (value: string) => {
    if (value.trim()) warm(channelId);
    change(value);
  };

  const { mention, onKey: mentionKey, look, leave } = useMention(channelId, box, text, change);

  useGrowing(box, text);

  useEffect(() => (box.current ? knowBox(channelId, box.current) : undefined), [channelId]);

  useEffect(() => {
    session().api.channels.history(channelId, HISTORY).then(
      (list) => {
        history.current.list = list ?? [];
      },
      () => {}, // without a history the person can still type
    );
  }, [channelId, running]);

  function submit(options: PromptOptions = {}) {
    if (!text.trim() || attaching(channelId)) return;
    dismiss(channelId);
    const attachments = pictures.length > 0 ? { attachments: pictures } : {};
    send(channelId, text, { ...options, ...attachments, ...(plan ? { plan } : {}) });
    setPictures(channelId, []);
    if (gives) batonStore.getState()[channelId]?.give();
    setPlan(channelId, false);
    history.current = { list: [text.trim(), ...history.current.list], at: -1, draft: "" };
    change("");
  }

  async function stop() {
    setStopping(running || "yes");
    await stopRun(channelId);
    setStopping("");
  }

  /** Goes to an earlier or later prompt, but only where the arrow key could not move the caret. */
  function walk(back: boolean): boolean {
    const el = box.current;
    const h = history.current;
    if (!el || el.selectionStart !== el.selectionEnd) return false;
    const edge = back ? !text.slice(0, el.selectionStart).includes("\n") : !text.slice(el.selectionEnd).includes("\n");
    const next = h.at + (back ? 1 : -1);
    if (!edge || next < -1 || next >= h.list.length) return false;
    if (h.at === -1) h.draft = text;
    h.at = next;
    const value = next === -1 ? h.draft : (h.list[next] ?? "");
    change(value);
    requestAnimationFrame(() => {
      const pos = back ? 0 : value.length;
      el.setSelectionRange(pos, pos);
    });
    return true;
  }

  function onKey(e: KeyboardEvent<HTMLTextAreaElement>) {
    if (composing(e) || mentionKey(e)) return;
    if (e.altKey && !e.shiftKey && !mod(e.nativeEvent) && e.code === "KeyA") {
      e.preventDefault();
      chooser.current?.click();
      return;
    }
    if (e.key === "Enter" && !e.shiftKey && !e.altKey) {
      e.preventDefault();
      submit(mod(e.nativeEvent) && busy ? { interrupt: true } : {});
    } else if (e.key === "ArrowUp" && !e.shiftKey && !e.altKey && walk(true)) e.preventDefault();
    else if (e.key === "ArrowDown" && !e.shiftKey && !e.altKey && walk(false)) e.preventDefault();
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
      <AnswerFirst key={channelId} channelId={channelId} />
      <Attaching channelId={channelId} />
      {mention && <MentionList mention={mention} />}
      <div className={`prompt-box ${over ? "over" : ""}`} data-region="prompt" ref={area} {...handlers}>
        <References channelId={channelId} text={text} onRemove={(words) => { change(withoutReference(text, words)); box.current?.focus(); }} />
        <Pictures channelId={channelId} pictures={pictures} onRemove={(id) => { removePicture(channelId, id); box.current?.focus(); }} />
        <ComingBack channelId={channelId} />
        <textarea
          ref={box}
          data-prompt
          rows={1}
          value={text}
          placeholder={pictures.length > 0 ? "Say what to do with it" : busy || parked ? "Say what comes next; it waits in the queue" : "Ask for a change"}
          aria-label="Prompt"
          spellCheck
          onChange={(e) => { history.current.at = -1; type(e.target.value); look(); }}
          onSelect={look}
          onBlur={leave}
          aria-autocomplete="list"
          aria-controls={mention?.found?.files.length ? mention.id : undefined}
          aria-activedescendant={mention?.found?.files.length ? `${mention.id}-${mention.active}` : undefined}
          onKeyDown={onKey}
          onPaste={onPaste}
        />
        <div className="prompt-foot">
          <input ref={chooser} type="file" multiple hidden onChange={(e) => { const files = [...(e.target.files ?? [])]; e.target.value = ""; box.current?.focus(); attach(channelId, itemsOf({ paths: [], files, text: "" })); }} />
          <IconButton small name="Attach files" keys={keys("Alt", "A")} onClick={() => chooser.current?.click()}><Paperclip size={14} /></IconButton>
          <span className="prompt-chips">
            <Chip icon={<Sparkles size={13} aria-hidden />}>{channel?.kind === "demo" ? "Claude Code, scripted model" : "Claude Code"}</Chip>
            {lastModel && channel?.kind !== "demo" && <Chip>{modelName(visible(lastModel))}</Chip>}
            {plan && <Chip>Plan first</Chip>}
            {channel?.next_session?.mode && <Chip>{NEXT[channel.next_session.mode] ?? channel.next_session.mode}</Chip>}
          </span>
          <span className="prompt-hint">
            <Kbd>Enter</Kbd> {busy || parked ? "queues" : "sends"} <Kbd>Shift Enter</Kbd> new line
          </span>
          <ContextMeter context={channel?.context} fresh={channel?.next_session?.mode === "fresh"} />
          {busy && (
            <Button onClick={() => void stop()} disabled={stopping !== ""} aria-keyshortcuts="Control+." title={`Stop the run (${keys(MOD, ".")})`}>
              <Square size={12} aria-hidden />
              {stopping ? "Stopping" : "Stop"}
              <Kbd>{keys(MOD, ".")}</Kbd>
            </Button>
          )}
          <Button look="primary" disabled={!text.trim() || onTheWay} onClick={() => submit()} title={onTheWay ? "Wait until the files are in the container" : online ? undefined : "The prompt goes out when Loop answers again"}>
            <ArrowUp size={14} aria-hidden />
            {gives ? "Send and give back" : busy || parked ? "Queue" : "Send"}
          </Button>
          <SendOptions busy={busy} disabled={!text.trim() || onTheWay} plan={plan} onPlan={(on) => setPlan(channelId, on)} onSend={submit} />
        </div>
      </div>
      </div>
    </div>
  );
}

const NEXT: Record<string, string> = { fork: "Begins a copy of the conversation", fresh: "Begins a new conversation", resume: "Goes on with an earlier conversation" };

/** One option that the prompt will be sent with. It is cut off where it has no room. */
function Chip({ icon, children }: { icon?: ReactNode; children: string }) {
  return (
    <span className="chip" title={children}>
      {icon}
      <span className="ellipsis">{children}</span>
    </span>
  );
}
