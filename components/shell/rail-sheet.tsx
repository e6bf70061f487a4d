"use client";

import { Dialog as Radix } from "radix-ui";
import { Rail } from "@/components/shell/rail";

/** The rail on a phone: a sheet from the left. */
export function RailSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="scrim" />
        <Radix.Content className="rail rail-sheet" aria-describedby={undefined}>
          <Radix.Title className="vh">Menu</Radix.Title>
          <Rail onNavigate={onClose} />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
