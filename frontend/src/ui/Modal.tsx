import { X } from "lucide-react";
import { Dialog } from "radix-ui";
import type { ReactNode } from "react";
import { IconButton } from "./Button";
import { useReturnFocus } from "./useReturnFocus";

type Props = {
  title: string;
  description?: string;
  wide?: boolean;
  scrolls?: boolean; // its content has nothing to focus but may be long
  onClose(): void;
  children: ReactNode;
  foot?: ReactNode;
};

/** Without a field that asks for it, the dialog itself gets the focus: no button is a key away by accident. */
function toContent(e: Event) {
  e.preventDefault();
  (e.currentTarget as HTMLElement | null)?.focus({ preventScroll: true });
}

/** A dialog that keeps the focus inside and gives it back when it closes. */
export function Modal({ title, description, wide, scrolls, onClose, children, foot }: Props) {
  const restore = useReturnFocus();
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim" />
        <Dialog.Content className={`dialog ${wide ? "wide" : ""}`} onCloseAutoFocus={restore} onOpenAutoFocus={toContent} {...(description ? {} : { "aria-describedby": undefined })}>
          <div className="dialog-head">
            <Dialog.Title asChild>
              <h2>{title}</h2>
            </Dialog.Title>
            <Dialog.Close asChild>
              <IconButton name="Close" keys="Esc">
                <X size={15} />
              </IconButton>
            </Dialog.Close>
          </div>
          {description && <Dialog.Description className="sr-only">{description}</Dialog.Description>}
          <div className="dialog-body" {...(scrolls ? { tabIndex: 0, role: "group", "aria-label": title } : {})}>{children}</div>
          {foot && <div className="dialog-foot">{foot}</div>}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
