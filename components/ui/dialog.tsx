"use client";

import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { IconButton } from "@/components/ui/button";

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** What the dialog is about, under its title. */
  about?: ReactNode;
  children: ReactNode;
}

/** A modal dialog: holds the focus, ends with Escape, gives the focus back. Fills the screen on a phone. */
export function Dialog({ open, onClose, title, about, children }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="scrim" />
        <Radix.Content className="dialog" aria-describedby={undefined}>
          <header>
            <div className="min-w-0 flex-1">
              <Radix.Title asChild>
                <h2>{title}</h2>
              </Radix.Title>
              {about && <p>{about}</p>}
            </div>
            <Radix.Close asChild>
              <IconButton label="Close" icon="x" />
            </Radix.Close>
          </header>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** One part of a dialog, with its own small title. */
export function DialogPart({ title, aside, children }: { title?: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <div className="part">
      {title && (
        <h3>
          {title}
          {aside && <span className="r">{aside}</span>}
        </h3>
      )}
      {children}
    </div>
  );
}
