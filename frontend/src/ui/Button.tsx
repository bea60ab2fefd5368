import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import { useAriaKeys, useKeyText } from "./keys";

type Props = ButtonHTMLAttributes<HTMLButtonElement> & { ref?: Ref<HTMLButtonElement> };

export function Button({ look = "", className = "", ...rest }: Props & { look?: string }) {
  return <button type="button" className={`btn ${look} ${className}`} {...rest} />;
}

/** A button with only an icon. Its name is required: it is shown on hover, and a screen reader reads it. action: the one of the table of keys that it does. */
export function IconButton({ name, keys, action = "", className = "", small, children, ...rest }: Props & { name: string; keys?: string; action?: string; small?: boolean; children: ReactNode }) {
  const own = useKeyText()(action) || keys;
  const aria = useAriaKeys(action);
  return (
    <button type="button" className={`iconbtn ${small ? "small" : ""} ${className}`} aria-label={name} title={own ? `${name} (${own})` : name} aria-keyshortcuts={aria} {...rest}>
      {children}
    </button>
  );
}

export function Kbd({ children }: { children: ReactNode }) {
  return <kbd className="kbd">{children}</kbd>;
}

/** The key of an action of the table, as it is now. An action without a key shows nothing. */
export function KeyOf({ of }: { of: string }) {
  const text = useKeyText()(of);
  return text ? <Kbd>{text}</Kbd> : null;
}
