/**
 * The one table of what the goldens ask and Voldeck does not answer yet, with the reason. Judged by what is asked, never by a line's
 * id. The runner takes reasons from here only; an adapter that declines a line names one of these.
 */

export const reasons = {
  csiDriver: "speaks to a CSI driver over gRPC: mounting through CSI drivers is not built yet",
  migration: "translation of in-tree sources to CSI is not built yet",
  apiServerRules: "update and admission rules beyond what the embedded API server serves are not built yet",
  resizeHelpers: "the in-tree expand controller is not built: FlexVolume's no-op expander and loop disks play its part",
  quota: "resource quotas are not built yet",
  printedTables: "printed tables are not built yet",
  listChunks: "continue tokens and option decoding are not built yet",
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
  podresize: reasons.apiServerRules,
  podvolumes: reasons.apiServerRules,
  pvcupdate: reasons.apiServerRules,
  storagecreate: reasons.apiServerRules,
  http: reasons.apiServerRules,
  resizeutil: reasons.resizeHelpers,
  quota: reasons.quota,
  table: reasons.printedTables,
  listchunks: reasons.listChunks,
};

export function isReason(text: string): text is Reason {
  return Object.values<string>(reasons).includes(text);
}
