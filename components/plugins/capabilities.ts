import type { PluginDetail } from "@/components/plugins/plugin-page";

type Capabilities = NonNullable<PluginDetail["capabilities"]>;
type CSIDriver = NonNullable<PluginDetail["csiDriver"]>;

export interface CapabilityText {
  readonly key: keyof Capabilities;
  readonly title: string;
  /** As the head of a narrow column. */
  readonly short: string;
  /** What having it means. */
  readonly means: string;
  /** What a CSIDriver object says of it; undefined where it says nothing. */
  readonly driver?: (driver: CSIDriver) => { readonly yes: boolean; readonly field: string };
}

/** The capability matrix, in the order of a volume's life. */
export const capabilities: readonly CapabilityText[] = [
  {
    key: "attach",
    title: "Attach",
    short: "Attach",
    means: "a controller attaches the volume to the node before it is mounted",
    driver: ({ attachRequired }) => ({ yes: attachRequired !== false, field: `.spec.attachRequired ${attachRequired ?? true}` }),
  },
  { key: "deviceMount", title: "Device mount", short: "Device mount", means: "mounted once per node, then once per pod" },
  { key: "mount", title: "Mount", short: "Mount", means: "mounted for a pod; every plugin has it" },
  { key: "block", title: "Block", short: "Block", means: "given to a container as a raw device" },
  { key: "expand", title: "Expand on the controller", short: "Expand", means: "the volume itself grows" },
  { key: "nodeExpand", title: "Expand on the node", short: "Node expand", means: "the file system on the node grows" },
  { key: "resizeEphemeral", title: "Resize ephemeral", short: "Resize", means: "a volume of the pod itself changes its size while mounted" },
  { key: "recycle", title: "Recycle", short: "Recycle", means: "a released volume is emptied and offered again" },
  { key: "provision", title: "Provision", short: "Provision", means: "makes volumes for claims" },
  { key: "delete", title: "Delete", short: "Delete", means: "deletes released volumes" },
  {
    key: "seLinuxMount",
    title: "SELinux mount",
    short: "SELinux",
    means: "mounted with the pod's label instead of relabelling every file",
    driver: ({ seLinuxMount }) => ({ yes: seLinuxMount === true, field: `.spec.seLinuxMount ${seLinuxMount ?? false}` }),
  },
  { key: "mountOptions", title: "Mount options", short: "Options", means: "options of the volume or class are passed on" },
];
