/** The manifests folder of a standalone cluster, as pages show it. */

export interface ManifestError {
  /** The file's name in the folder. */
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** An object that no file names any more. */
export interface WaitingObject {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty where the kind has no namespaces. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The file that brought it. */
  readonly file: string;
}

export interface WaitingRemoval {
  readonly objects: readonly WaitingObject[];
  readonly pods: number;
  /** Persistent volumes and claims. */
  readonly volumes: number;
  readonly reason: string;
}

/** A kind that this node does not act on: its objects are kept, listed and watched as they came. */
export interface KeptKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly objects: number;
}

export interface ManifestState {
  readonly folder: string;
  /** Why the folder can't be read now; what it brought stays. */
  readonly problem?: string;
  readonly files: readonly { readonly file: string; readonly objects: number }[];
  readonly errors: readonly ManifestError[];
  readonly kept: readonly KeptKind[];
  /** Objects whose removal a person has to confirm. */
  readonly waiting?: WaitingRemoval;
}
