import { X } from "lucide-react";
import { Dialog } from "radix-ui";
import type { ReactNode } from "react";
import { IconButton } from "./Button";

type Props = {
  title: string;
  description?: string;
  wide?: boolean;
  onClose(): void;
  children: ReactNode;
  foot?: ReactNode;
};

/** A dialog that keeps the focus inside and gives it back when it closes. */
export function Modal({ title, description, wide, onClose, children, foot }: Props) {
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim" />
        <Dialog.Content className={`dialog ${wide ? "wide" : ""}`} {...(description ? {} : { "aria-describedby": undefined })}>
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
          <div className="dialog-body">{children}</div>
          {foot && <div className="dialog-foot">{foot}</div>}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
