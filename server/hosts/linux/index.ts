export { mountCapability } from "./capabilities";
export type { MountCapability } from "./capabilities";
export { LinuxExec } from "./exec";
export { createLinuxHost } from "./linux-host";
export type { LinuxHost, LinuxHostOptions } from "./linux-host";
export { LoopDevices } from "./loop";
export type { LoopDevice } from "./loop";
export { parseMountInfo } from "./mount-table";
export { markerName, openDataFolder } from "./root";
