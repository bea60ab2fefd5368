import { ChevronRight } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";
import { Kbd } from "./Button";
import { front, useLayer } from "./layer";

type Props = Pick<ComponentProps<typeof DropdownMenu.Root>, "open" | "onOpenChange"> & Pick<ComponentProps<typeof DropdownMenu.Content>, "align" | "side" | "sideOffset" | "className"> & { button: ReactNode; children: ReactNode };

/** A menu at a button. After a choice the keyboard goes back to its earlier place, and then the chosen item runs. */
export function Menu({ button, children, open, onOpenChange, className = "", sideOffset = 4, ...place }: Props) {
  const { mark, props } = useLayer();
  return (
    <DropdownMenu.Root modal={false} {...(open === undefined ? {} : { open })} {...(onOpenChange ? { onOpenChange } : {})}>
      <DropdownMenu.Trigger asChild>{button}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className={`menu ${className}`} sideOffset={sideOffset} {...place} {...props}>
          {mark}
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

type ItemProps = { icon?: ReactNode; name: ReactNode; hint?: string; disabled?: boolean; danger?: boolean; onSelect(): void };

export function MenuItem({ icon, name, hint, disabled = false, danger, onSelect }: ItemProps) {
  return (
    <DropdownMenu.Item className={`menu-item ${danger ? "danger" : ""}`} disabled={disabled} onSelect={() => front.after(onSelect)}>
      {icon}
      {name}
      {hint && <Kbd>{hint}</Kbd>}
    </DropdownMenu.Item>
  );
}

export function SubMenu({ icon, name, disabled = false, children }: { icon: ReactNode; name: string; disabled?: boolean; children: ReactNode }) {
  return (
    <DropdownMenu.Sub>
      <DropdownMenu.SubTrigger className="menu-item" disabled={disabled}>
        {icon} {name} <ChevronRight size={14} aria-hidden className="menu-more" />
      </DropdownMenu.SubTrigger>
      <DropdownMenu.Portal>
        <DropdownMenu.SubContent className="menu" sideOffset={6}>{children}</DropdownMenu.SubContent>
      </DropdownMenu.Portal>
    </DropdownMenu.Sub>
  );
}

export const MenuLine = () => <DropdownMenu.Separator className="menu-line" />;
