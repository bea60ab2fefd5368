import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import { toFailure } from "../../api/failure";
import type { Failure } from "../../api/types";
import type { FilePart, TerminalTarget } from "../../api/types";
import type { FileRef } from "../../model/terminals/filelinks";
import { shownFileStore } from "../../model/stores";
import { cleanTitle } from "../../model/terminals/titles";
import { copyText } from "../../shell/clipboard";
import { Button } from "../../ui/Button";
import { FailureCard } from "../../ui/FailureCard";
import { Modal } from "../../ui/Modal";
import { SafeText } from "../../ui/SafeText";
import { session } from "../../session/session";
import "./file.css";

type Props = { file: FileRef; channel: string; target: TerminalTarget; dir: string; onClose(): void };

/** Shows the part of a file around the line that output named. */
export function FileView({ file, channel, target, dir, onClose }: Props) {
  const [part, setPart] = useState<FilePart | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [copied, setCopied] = useState(false);
  const there = useRef<HTMLLIElement>(null);
  const load = useCallback(() => {
    setFailure(null);
    session().api.terminals.readFile(channel, target, dir, file.path, file.line).then(setPart, (err: unknown) => setFailure(toFailure(err)));
  }, [channel, target, dir, file]);
  useEffect(load, [load]);
  useEffect(() => {
    there.current?.scrollIntoView({ block: "center" }); // the braces matter: newer browsers return a promise, which an effect may not
  }, [part]);
  const lines = part?.lines ?? [];
  const end = part ? part.first + lines.length - 1 : 0;
  return (
    <Modal
      title={cleanTitle(`${file.path}:${file.line}`)} wide scrolls onClose={onClose}
      foot={
        <>
          <Button disabled={!part} onClick={() => part && void copyText(part.path).then(setCopied)}>{copied ? "Copied" : "Copy path"}</Button>
          <Button onClick={onClose}>Close</Button>
        </>
      }
    >
      {failure && <FailureCard failure={failure}><Button look="small" onClick={load}>Try again</Button></FailureCard>}
      {!part && !failure && <div className="skeleton" aria-hidden="true" />}
      {part && (
        <>
          <p className="hint mono file-path"><SafeText text={part.path} /></p>
          {end < file.line && <p className="hint">The file has only {end === 1 ? "one line" : `${end} lines`} now.</p>}
          {part.first > 1 && <p className="hint">Lines before {part.first} are left out.</p>}
          <ol className="file-lines mono" start={part.first} style={{ counterReset: `line ${part.first - 1}` }}>
            {lines.map((l, i) => {
              const here = part.first + i === Math.min(file.line, end);
              return <li key={i} {...(here ? { ref: there, "aria-current": "location" as const } : {})}><SafeText text={l} /></li>;
            })}
          </ol>
          {part.more && <p className="hint">The file goes on behind line {end}.</p>}
        </>
      )}
    </Modal>
  );
}

/** A file of this computer that another part of the page asked for. */
export function ShownFile({ onClose }: { onClose(): void }) {
  const { channel, path, line } = useStore(shownFileStore);
  const file = useMemo(() => ({ path, line, column: 0 }), [path, line]);
  return <FileView file={file} channel={channel} target="host" dir="" onClose={onClose} />;
}
