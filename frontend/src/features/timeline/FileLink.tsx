import type { ReactNode } from "react";
import { memo } from "react";
import { FileSearch } from "lucide-react";
import { fileParts } from "../../model/fileplace";
import { viewStore } from "../../model/stores";
import { visible } from "../../model/text";
import type { FileRef } from "../../model/terminals/filelinks";
import { openFile, openInEditor } from "../../session/openfile";
import { IconButton } from "../../ui/Button";
import { SafeText } from "../../ui/SafeText";
import "./filelink.css";

const go = (f: FileRef, edit: boolean) => void (edit ? openInEditor : openFile)(viewStore.getState().selected, f);

const words = (f: FileRef) => `${visible(f.line > 0 ? `Show ${f.path} at line ${f.line}` : `Show ${f.path}`)}. With Alt it opens in your editor.`;

/** A place in a file, named in a text. quiet: one of many, which the Tab key passes; the row has a key for the first. */
export function FileLink({ file, quiet = false, children }: { file: FileRef; quiet?: boolean; children: ReactNode }) {
  return <button type="button" className="filelink" title={words(file)} tabIndex={quiet ? -1 : 0} onClick={(e) => go(file, e.altKey)}>{children}</button>;
}

/** A text in which places in files can be followed. */
export const LinkedText = memo(function LinkedText({ text }: { text: string }) {
  const parts = fileParts(text);
  if (parts.length <= 1 && !parts[0]?.file) return <SafeText text={text} />;
  return parts.map((p, i) => (p.file ? <FileLink key={i} file={p.file} quiet><SafeText text={p.text} /></FileLink> : <SafeText key={i} text={p.text} />));
});

/** Shows the file that a box is about. The key “o” on the row does the same. */
export function OpenIcon({ path, line = 0 }: { path: string; line?: number }) {
  return <IconButton small tabIndex={-1} name="Show the file" action="timeline.file" onClick={(e) => go({ path, line, column: 0 }, e.altKey)}><FileSearch size={13} aria-hidden /></IconButton>;
}
