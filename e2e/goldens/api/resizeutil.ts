/** Goldens `resizeutil`: what is written on claims and volumes while one grows. */
import type { Adapter, Answer, GoldenLine } from "@/e2e/goldens/adapter";
import { reasons } from "@/e2e/goldens/unsupported";
import type { Condition } from "@/lib/kube/meta";
import type { PersistentVolume, PersistentVolumeClaim } from "@/lib/kube/storage";
import type { Quantity } from "@/lib/quantity";
import { parseQuantity } from "@/lib/quantity";
import type { ExpansionPorts } from "@/server/node/expand-in-use";
import { expandInUse, failureText } from "@/server/node/expand-in-use";
import type { StatusPatch } from "@/server/node/resize-status";
import {
  addPreResizeCapacity, deletePreResizeCapacity, markControllerResizeInProgress, markForFSResize, markNodeExpansionFailedCondition,
  markNodeExpansionInfeasible, markNodeExpansionInProgress, markResizeFinished, markResizeInProgressWithResizer, mergeConditions,
  setClaimResizer, updatePVSize,
} from "@/server/node/resize-status";
import type { VolumeErrorCode } from "@/server/volume/errors";
import { VolumeError } from "@/server/volume/errors";

interface Input {
  readonly pvc: PersistentVolumeClaim;
  readonly pv: PersistentVolume;
  readonly size: string;
  readonly resizer: string;
  readonly error: string;
  readonly absent?: boolean;
  readonly conditions: Condition[];
  readonly keepOld: boolean;
  readonly currentSize: string;
  readonly desiredSize: string;
  readonly readOnly?: boolean;
  readonly failedBefore?: boolean;
  readonly plugin?: { fail?: string; text?: string; requiresFSResize?: boolean };
}

const now = "NOW";

type Patch = StatusPatch<PersistentVolumeClaim | PersistentVolume>;

const marks: Readonly<Record<string, (input: Input) => Patch>> = {
  setClaimResizer: ({ pvc, resizer }) => setClaimResizer(pvc, resizer),
  markResizeInProgressWithResizer: ({ pvc, resizer }) => markResizeInProgressWithResizer(pvc, resizer, now),
  markControllerResizeInProgress: ({ pvc, resizer, size }) => markControllerResizeInProgress(pvc, resizer, { size: parseQuantity(size), now }),
  markForFSResize: ({ pvc }) => markForFSResize(pvc, now),
  markFSResizeFinished: ({ pvc, size }) => markResizeFinished(pvc, parseQuantity(size)),
  markNodeExpansionFinishedWithRecovery: ({ pvc, size }) => markResizeFinished(pvc, parseQuantity(size)),
  markNodeExpansionInProgress: ({ pvc }) => markNodeExpansionInProgress(pvc),
  markNodeExpansionInfeasible: ({ pvc, error }) => markNodeExpansionInfeasible(pvc, error, now),
  markNodeExpansionFailedCondition: ({ pvc, error }) => markNodeExpansionFailedCondition(pvc, error, now),
  updatePVSize: ({ pv, size }) => updatePVSize(pv, parseQuantity(size)),
};

const annotations: Readonly<Record<string, (input: Input) => Patch | undefined>> = {
  addAnnPreResizeCapacity: ({ pv, size }) => addPreResizeCapacity(pv, parseQuantity(size)),
  deleteAnnPreResizeCapacity: ({ pv }) => deletePreResizeCapacity(pv),
};

export const adapter: Adapter = {
  unsupported: ({ fn }) => (fn === "expandAndRecover" ? reasons.resizeHelpers : undefined),
  answer(line: GoldenLine): Promise<Answer> {
    const input = line.in as unknown as Input;
    return line.fn === "expandInUse" ? expand(input) : Promise.resolve(answer(line.fn, input));
  },
};

function answer(fn: string, input: Input): Answer {
  if (fn === "mergeConditions") return { out: mergeConditions(input.pvc, input.conditions, { keepOld: input.keepOld }) };
  const annotate = annotations[fn];
  if (annotate !== undefined) {
    const patch = annotate(input);
    return patch && input.absent ? failed(input, patch) : { out: { patches: patch ? [request(input, patch)] : null } };
  }
  const patch = marks[fn]?.(input);
  if (patch === undefined) throw new Error(`unknown fn ${fn}`);
  return input.absent ? failed(input, patch) : { out: { object: written(input, patch), patches: [request(input, patch)] } };
}

function request({ pvc, pv }: Input, { body }: Patch): unknown {
  const [resource, subresource] = pvc === undefined ? ["persistentvolumes", ""] : ["persistentvolumeclaims", "status"];
  const { name } = (pvc ?? pv).metadata;
  return { resource, subresource, name, body, type: "application/strategic-merge-patch+json" };
}

/** Go writes the empty status of a volume, and no empty resource version. */
function written({ pvc }: Input, { object }: Patch): unknown {
  const { resourceVersion, ...others } = object.metadata;
  const metadata = resourceVersion ? object.metadata : others;
  return pvc === undefined ? { status: {}, ...object, metadata } : { ...object, metadata };
}

function failed(input: Input, patch: Patch): Answer {
  const { pvc, pv } = input;
  const { name } = (pvc ?? pv).metadata;
  const text = pvc
    ? `patchPVCStatus failed to patch PVC "${name}": persistentvolumeclaims "${name}" not found`
    : `error Patching PV "${name}" with error : persistentvolumes "${name}" not found`;
  return { err: { text, patches: [request(input, patch)] } };
}

const failures: Readonly<Record<string, VolumeErrorCode>> = {
  infeasible: "infeasible",
  failedPrecondition: "failed-precondition",
  notSupported: "operation-not-supported",
  uncertain: "uncertain",
  transient: "transient",
};

async function expand(input: Input): Promise<Answer> {
  const { pvc, pv, plugin } = input;
  const seen: { patches: unknown[]; events: unknown[]; plugin: unknown[]; world: unknown[] } = { patches: [], events: [], plugin: [], world: [] };
  let status = pvc.status;
  const ports: ExpansionPorts = {
    nodeExpand({ oldSize, newSize }) {
      seen.plugin.push({ call: "NodeExpand", oldSize: oldSize.toString(), newSize: newSize.toString() });
      return plugin?.fail === undefined ? Promise.resolve() : Promise.reject(pluginError(plugin.fail, plugin.text ?? ""));
    },
    patchClaim(patch) {
      seen.patches.push(request(input, patch));
      status = patch.object.status;
      return Promise.resolve(patch.object);
    },
    event: (event) => void seen.events.push(event),
    markResized: (size: Quantity) => void seen.world.push({ mark: "resized", size: size.toString() }),
    markFailed: () => void seen.world.push({ mark: "failedWithFinalError" }),
    markInUse: () => void seen.world.push({ mark: "inUseExpansionError" }),
    now: () => now,
    warn: (message) => {
      throw new Error(message);
    },
  };
  const volumeName = pv.metadata.name ?? "";
  const failure = await expandInUse(
    {
      claim: pvc,
      currentSize: parseQuantity(input.currentSize),
      desiredSize: parseQuantity(input.desiredSize),
      readOnly: input.readOnly ?? false,
      expandable: plugin?.requiresFSResize ?? true,
      failedBefore: input.failedBefore ?? false,
      volumeName,
      nodeName: "n1",
    },
    ports,
  );
  const pod = `(UniqueName: "example.com/stub/${volumeName}") pod "web" (UID: "pod-uid") `;
  const errors = failure && { eventError: failureText(failure, volumeName), detailedError: failureText(failure, volumeName, pod) };
  const lists = Object.entries(seen).map(([name, list]) => [name, list.length > 0 ? list : null]);
  return { out: { ...Object.fromEntries(lists), claimStatus: status, ...errors } };
}

/** The stub of the goldens wraps a failed precondition once more. */
function pluginError(kind: string, text: string): VolumeError {
  return new VolumeError(kind === "failedPrecondition" ? `wrapped : ${text}` : text, failures[kind] ?? "volume-error");
}
