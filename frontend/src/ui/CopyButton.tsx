import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { copyText } from "../shell/clipboard";
import { Button, IconButton } from "./Button";

export function useCopied() {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const t = setTimeout(() => setCopied(false), 1600);
    return () => clearTimeout(t);
  }, [copied]);
  return { copied, copy: async (text: string) => setCopied(await copyText(text)) };
}

export function CopyIcon({ text, name }: { text: string; name: string }) {
  const { copied, copy } = useCopied();
  return (
    <IconButton name={copied ? "Copied" : name} small onClick={() => void copy(text)}>
      {copied ? <Check size={13} /> : <Copy size={13} />}
    </IconButton>
  );
}

export function CopyButton({ text, children, look = "small" }: { text: () => string; children: string; look?: string }) {
  const { copied, copy } = useCopied();
  return (
    <Button look={look} onClick={() => void copy(text())}>
      {copied ? <Check size={13} aria-hidden /> : <Copy size={13} aria-hidden />}
      {copied ? "Copied" : children}
    </Button>
  );
}
