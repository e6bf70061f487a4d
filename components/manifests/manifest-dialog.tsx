"use client";

import { useMutation } from "@tanstack/react-query";
import { ManifestDetails } from "@/components/manifests/manifest-details";
import { countText } from "@/components/manifests/use-manifests";
import { useCluster } from "@/components/shell/status-context";
import { useTRPCClient } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog, DialogPart } from "@/components/ui/dialog";
import { messageOf } from "@/lib/errors";
import type { ManifestState, WaitingObject, WaitingRemoval } from "@/lib/manifests";

interface ManifestDialogProps {
  state: ManifestState;
  open: boolean;
  onClose: () => void;
}

/** What waits for a person, and what became of the files. Only what is listed here is removed. */
export function ManifestDialog({ state, open, onClose }: ManifestDialogProps) {
  return (
    <Dialog open={open} onClose={onClose} title="Manifests" about="The files that this node's objects come from.">
      {state.waiting && <Waiting waiting={state.waiting} />}
      <ManifestDetails state={state} />
      {state.waiting ? (
        <RemovalFoot waiting={state.waiting} onClose={onClose} />
      ) : (
        <footer>
          <span className="say-s" />
          <Button onClick={onClose}>Close</Button>
        </footer>
      )}
    </Dialog>
  );
}

function Waiting({ waiting: { objects, reason } }: { waiting: WaitingRemoval }) {
  return (
    <DialogPart title="Waits for you" aside={objects.length}>
      <p>No file names these objects any more. So much is not removed without your word: {reason}. To keep them, put the files back.</p>
      <ul aria-label="Objects that wait for removal" className="my-2">
        {objects.map((object) => (
          <li key={object.uid}>
            <span className="muted">{object.kind}</span> <span className="name">{nameOf(object)}</span>{" "}
            <span className="muted">was in {object.file}</span>
          </li>
        ))}
      </ul>
      <p>
        Removed pods are torn down: their volumes are unmounted. A removed claim takes its volume and data with it where the class says{" "}
        <code>Delete</code>. This can&apos;t be undone.
      </p>
    </DialogPart>
  );
}

function nameOf({ namespace, name }: WaitingObject): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

function RemovalFoot({ waiting, onClose }: { waiting: WaitingRemoval; onClose: () => void }) {
  const { cluster } = useCluster();
  const client = useTRPCClient();
  const removal = useMutation({
    mutationFn: (uids: string[]) => client.manifest.confirmRemoval.mutate({ cluster, uids }),
    onSuccess: onClose,
  });
  return (
    <footer>
      <span className="say-s text-failed-fg" role="alert">
        {removal.error ? messageOf(removal.error) : ""}
      </span>
      <Button onClick={onClose}>Keep waiting</Button>
      <Button look="main" refused={removal.isPending ? "It is being sent" : undefined} onClick={() => removal.mutate(waiting.objects.map(({ uid }) => uid))}>
        Remove {countText(waiting.objects.length, "object")}
      </Button>
    </footer>
  );
}
