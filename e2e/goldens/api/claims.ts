/** Goldens `claims`: how claims and volumes find each other, and the small helpers around them. */
import type { Adapter, Answer, GoldenLine } from "@/e2e/goldens/adapter";
import { reasons } from "@/e2e/goldens/unsupported";
import { messageOf } from "@/lib/errors";
import type { StringMap } from "@/lib/kube/meta";
import { matchesTopology } from "@/lib/kube/node-selector";
import type { Node } from "@/lib/kube/nodes";
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@/lib/kube/storage";
import type { Volume } from "@/lib/kube/volumes";
import { claimClass, claimHasClass, defaultClass, volumeClass } from "@/lib/kube/classes";
import {
  checkAccessModes,
  checkEphemeralClaimOwner,
  checkNodeAffinity,
  ephemeralClaimName,
  findMatchingVolume,
  getBindVolumeToClaim,
  isDelayBindingMode,
  isVolumeBoundToClaim,
  volumeModeMismatch,
} from "@/server/node/binding";
import { accessModesAsString, accessModesFromString, isMultiAttachAllowed } from "@/server/volume/access-modes";
import { joinMountOptions, mountOptionFromSpec } from "@/server/volume/mount-options";
import { pageSizeOfMedium } from "@/server/volume/plugins/empty-dir/huge-pages";
import { newSpecFromPersistentVolume } from "@/server/volume/spec";
import { splitUniqueName } from "@/server/volume/unique-name";

interface Input {
  readonly pvc: PersistentVolumeClaim;
  readonly pv: PersistentVolume;
  readonly volumes: PersistentVolume[];
  readonly node?: Node;
  readonly excluded?: string[];
  readonly delayBinding?: boolean;
  readonly volumeAttributesClasses?: boolean;
  readonly labels: StringMap;
  readonly classes: StorageClass[];
  readonly terms: StorageClass["allowedTopologies"];
  readonly pod: Pod;
  readonly volume: Volume;
  readonly system: string[];
  readonly medium: string;
  readonly modes: string[];
  readonly text: string;
}

const questions: Readonly<Record<string, (input: Input) => unknown>> = {
  findMatchingVolume: ({ pvc, volumes, node, excluded, delayBinding, volumeAttributesClasses }) => {
    const options = { node, excluded: new Set(excluded), delayBinding, volumeAttributesClasses };
    return { match: findMatchingVolume(pvc, volumes, options)?.metadata.name ?? null };
  },
  isVolumeBoundToClaim: ({ pv, pvc }) => isVolumeBoundToClaim(pv, pvc),
  getBindVolumeToClaim: ({ pv, pvc }) => getBindVolumeToClaim(pv, pvc),
  claimClass: ({ pvc }) => ({ class: claimClass(pvc), has: claimHasClass(pvc) }),
  volumeClass: ({ pv }) => volumeClass(pv),
  checkNodeAffinity: ({ pv, labels }) => {
    checkNodeAffinity(pv, labels);
    return { fits: true };
  },
  isDelayBindingMode: ({ pvc, classes }) => isDelayBindingMode(pvc, (name) => classes.find(({ metadata }) => metadata.name === name)),
  defaultClass: ({ classes }) => ({ class: defaultClass(classes)?.metadata.name ?? null }),
  checkAccessModes: ({ pv, pvc }) => checkAccessModes(pvc, pv),
  volumeModeMismatch: ({ pv, pvc }) => volumeModeMismatch(pvc, pv),
  matchTopology: ({ terms, labels }) => matchesTopology(terms, labels),
  mountOptions: ({ pv, system }) => joinMountOptions(mountOptionFromSpec(newSpecFromPersistentVolume(pv, false)), system),
  hugePages: ({ medium }) => pageSizeOfMedium(medium).toString(),
  accessModesAsString: ({ modes }) => accessModesAsString(modes),
  accessModesFromString: ({ text }) => accessModesFromString(text),
  multiAttach: ({ pv }) => isMultiAttachAllowed(newSpecFromPersistentVolume(pv, false)),
  splitUniqueName: ({ text }) => {
    const { plugin, volume } = splitUniqueName(text);
    return [plugin, volume];
  },
  ephemeralClaimName: ({ pod, volume }) => ephemeralClaimName(pod, volume),
  ephemeralOwned: ({ pod, pvc }) => {
    checkEphemeralClaimOwner(pod, pvc);
    return { owned: true };
  },
};

const cloudZones = new Set(["round", "zonesToSet", "chooseZones"]);

export const adapter: Adapter = {
  unsupported: ({ fn }) => (cloudZones.has(fn) ? reasons.cloudZones : undefined),
  answer(line: GoldenLine): Promise<Answer> {
    const question = questions[line.fn];
    if (question === undefined) throw new Error(`unknown fn ${line.fn}`);
    try {
      return Promise.resolve({ out: question(line.in as unknown as Input) });
    } catch (error) {
      return Promise.resolve({ err: messageOf(error) });
    }
  },
};
