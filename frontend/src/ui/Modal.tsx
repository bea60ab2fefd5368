import { X } from "lucide-react";
import { Dialog } from "radix-ui";
import type { HTMLAttributes, ReactNode } from "react";
import { IconButton } from "./Button";
import { useLayer } from "./layer";

/** What the dialog's content has besides: that it takes no answer just now, and what tells of that. */
type Guard = Pick<HTMLAttributes<HTMLElement>, "onPointerDownCapture" | "onPointerUpCapture" | "onFocus"> & { "data-deaf"?: boolean | undefined };

type FrameProps = { className?: string; described?: boolean; guard?: Guard | undefined; onClose(): void; children: ReactNode };

/** Elements that may get the focus first, in this order: one that asks for it, a text field, another field, an element that scrolls. */
const FIRST = [
  "[data-first]",
  "input:enabled:not([type=radio],[type=checkbox],[type=range],[type=hidden]),textarea:enabled",
  "input:enabled,select:enabled",
  "[tabindex='0']:not(button)",
];

/** Without such an element the dialog itself gets the focus, so that no key presses a button by accident. */
function toFirst(content: HTMLElement) {
  const first = FIRST.flatMap((s) => [...content.querySelectorAll<HTMLElement>(s)]).find((el) => el.getClientRects().length > 0);
  (first ?? content).focus({ preventScroll: true });
  if (first instanceof HTMLInputElement) first.select();
}

/** A message above everything does not count as outside of the dialog. */
function onInteractOutside(e: Event) {
  if (e.target instanceof Element && e.target.closest("[data-over]")) e.preventDefault();
}

/** An element that has a use for Escape just now says so, and the dialog stays: an open list, or a text that goes back. */
function onEscapeKeyDown(e: Event) {
  if (e.target instanceof Element && e.target.closest("[data-escape]")) e.preventDefault();
}

/** The frame of every modal layer. It has the keyboard, and everything behind it is inert. */
export function ModalFrame({ className = "", described, guard, onClose, children }: FrameProps) {
  const { mark, props } = useLayer(true, toFirst);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="scrim" />
        <Dialog.Content className={`dialog ${className}`} {...props} {...guard} onInteractOutside={onInteractOutside} onEscapeKeyDown={onEscapeKeyDown} {...(described ? {} : { "aria-describedby": undefined })}>
          {mark}
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

type Props = {
  title: string;
  description?: string;
  wide?: boolean;
  className?: string;
  guard?: Guard;
  scrolls?: boolean; // its content may be long and has nothing else that takes the focus
  onClose(): void;
  children: ReactNode;
  foot?: ReactNode;
};

/** A dialog with a title, a close button, and buttons below. */
export function Modal({ title, description, wide, className = "", guard, scrolls, onClose, children, foot }: Props) {
  return (
    <ModalFrame className={`${wide ? "wide" : ""} ${className}`} described={Boolean(description)} guard={guard} onClose={onClose}>
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
    </ModalFrame>
  );
}
