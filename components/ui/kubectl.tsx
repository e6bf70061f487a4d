"use client";

import { useState } from "react";
import { Button } from "@/components/ui/button";
import { CopyField } from "@/components/ui/copy";
import { Dialog, DialogPart } from "@/components/ui/dialog";

/** The command that gives the same, ready to copy. */
export function AsKubectl({ command, about }: { command: string | undefined; about: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button look="quiet" icon="terminal" onClick={() => setOpen(true)} refused={command === undefined ? "Nothing is read yet" : undefined}>
        As kubectl
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title="As kubectl" about={about}>
        <DialogPart>
          <CopyField label="Command" text={command ?? ""} />
        </DialogPart>
      </Dialog>
    </>
  );
}
