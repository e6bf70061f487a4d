"use client";

import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState, type ReactNode } from "react";
import { fieldProblems } from "@/components/errors";
import { ChangePreview, type Preview } from "@/components/operations/change-preview";
import { FollowedOperation } from "@/components/operations/followed-operation";
import { SizeField } from "@/components/operations/size-field";
import type { OperationRecord } from "@/components/operations/operation-types";
import { Button } from "@/components/ui/button";
import { Dialog, DialogPart } from "@/components/ui/dialog";
import { messageOf } from "@/lib/errors";

export interface ChangeDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly about: ReactNode;
  readonly nowLabel: string;
  /** The size now, in the API's spelling. */
  readonly now: string;
  /** What is asked, by the procedure's path, so that the live stream refreshes it. */
  readonly path: readonly [string, string];
  readonly subject: object;
  readonly preview: (size: string) => Promise<Preview>;
  readonly send: (size: string, uid: string) => Promise<OperationRecord>;
  /** What the button says: verb, object and size. */
  readonly verb: (size: string) => string;
  readonly warning: ReactNode;
  readonly rounding: string;
}

/** Checks, preview, confirm, follow: the four steps of every change. Closing loses nothing; errors keep what was typed. */
export function ChangeDialog(props: ChangeDialogProps) {
  const [size, setSize] = useState("");
  const asked = useDeferredValue(size.trim());
  const preview = useQuery({
    queryKey: [props.path, { input: { ...props.subject, size: asked }, type: "query" }],
    queryFn: () => props.preview(asked),
    enabled: props.open && asked !== "",
    placeholderData: keepPreviousData,
    retry: false,
  });
  const change = useMutation({ mutationFn: (uid: string) => props.send(asked, uid) });
  const problem = fieldProblems(preview.error).get("size");
  const current = preview.isPlaceholderData || asked === "" || preview.error ? undefined : preview.data;
  const refused = whyNot({ size: asked, preview: current, error: preview.error });
  if (change.data) {
    return (
      <Dialog open={props.open} onClose={props.onClose} title={props.title} about={props.about}>
        <FollowedOperation id={change.data.id} first={change.data} onClose={props.onClose} />
      </Dialog>
    );
  }
  return (
    <Dialog open={props.open} onClose={props.onClose} title={props.title} about={props.about}>
      <DialogPart>
        <SizeField nowLabel={props.nowLabel} now={props.now} size={size} onSize={setSize} problem={problem} bytes={current?.sizeBytes} rounding={props.rounding} />
      </DialogPart>
      {preview.error && problem === undefined && (
        <DialogPart title="Could not be checked">
          <p className="proof text-failed-fg" role="alert">
            {messageOf(preview.error)}
          </p>
        </DialogPart>
      )}
      {preview.data && asked !== "" && !preview.error && <ChangePreview preview={preview.data} />}
      <DialogPart>{props.warning}</DialogPart>
      {change.error && (
        <DialogPart title="It was not begun">
          <p className="proof text-failed-fg" role="alert">
            {messageOf(change.error)}
          </p>
        </DialogPart>
      )}
      <footer>
        <span className="say-s">{refused ?? ""}</span>
        <Button onClick={props.onClose}>Cancel</Button>
        <Button look="main" refused={refused ?? (change.isPending ? "It is being sent" : undefined)} onClick={() => current && change.mutate(current.uid)}>
          {props.verb(asked === "" ? "…" : asked)}
        </Button>
      </footer>
    </Dialog>
  );
}

function whyNot({ size, preview, error }: { size: string; preview: Preview | undefined; error: unknown }): string | undefined {
  if (size === "") return "Type a new size.";
  if (error) return "This size could not be checked.";
  if (!preview) return "Being checked.";
  if (preview.decision.kind !== "do") return preview.decision.reason;
  return preview.dryRun?.ok === false ? "The server refuses it in the dry run." : undefined;
}
