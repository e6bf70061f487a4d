/**
 * The one table of what the goldens ask and Voldeck does not answer yet, with the reason. Judged by what is asked, never by a line's
 * id. The runner takes reasons from here only; an adapter that declines a line names one of these.
 */

export const reasons = {
  csiDriver: "speaks to a CSI driver over gRPC: mounting through CSI drivers is not built yet",
  migration: "translation of in-tree sources to CSI is not built yet",
  resizeHelpers: "the in-tree expand controller is not built: FlexVolume's no-op expander and loop disks play its part",
  quota: "resource quotas are not built yet",
  printedTables: "kubectl draws tables as text on its own side; Voldeck serves them",
  discovery: "which kinds of a group a server has: the recorded one has fewer than this one",
  storageErrors: "errors that only etcd can have: the embedded store is SQLite",
  cloudZones: "zone lists and round-up helpers of cloud volumes: nothing here provisions cloud disks",
  unknownFamily: "no adapter answers this family",
} as const;

export type Reason = (typeof reasons)[keyof typeof reasons];

/** Families without an adapter. Once an adapter stands beside this file, its entry here is not read. */
export const unsupportedFamilies: Readonly<Record<string, Reason>> = {
  csi: reasons.csiDriver,
  migration: reasons.migration,
  translation: reasons.migration,
  resizeutil: reasons.resizeHelpers,
  quota: reasons.quota,
};

export function isReason(text: string): text is Reason {
  return Object.values<string>(reasons).includes(text);
}
