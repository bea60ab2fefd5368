import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";

type Props = ButtonHTMLAttributes<HTMLButtonElement> & { ref?: Ref<HTMLButtonElement> };

export function Button({ look = "", className = "", ...rest }: Props & { look?: string }) {
  return <button type="button" className={`btn ${look} ${className}`} {...rest} />;
}

/** A button with only an icon. Its name is required: it is shown on hover, and a screen reader reads it. */
export function IconButton({ name, keys, className = "", small, children, ...rest }: Props & { name: string; keys?: string; small?: boolean; children: ReactNode }) {
  return (
    <button type="button" className={`iconbtn ${small ? "small" : ""} ${className}`} aria-label={name} title={keys ? `${name} (${keys})` : name} {...rest}>
      {children}
    </button>
  );
}

export function Kbd({ children }: { children: ReactNode }) {
  return <kbd className="kbd">{children}</kbd>;
}
