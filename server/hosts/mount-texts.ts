/**
 * Words of mount(8) calls as Kubernetes shows them.
 * Source: k8s.io/mount-utils v0.37.2 (mount.go MakeBindOptsSensitive, mount_linux.go MakeMountArgsSensitive, doMount, checkUmountError).
 */
import { VolumeError } from "@/server/volume/errors";
import type { MountRequest } from "@/server/volume/mount";

const masked = "<masked>";

export interface MountArguments {
  readonly args: readonly string[];
  /** For errors and logs: sensitive options are masked. It begins with a space, as the real one does. */
  readonly shown: string;
}

export function mountArguments(request: MountRequest): MountArguments {
  const sensitive = request.sensitiveOptions ?? [];
  const args: string[] = [];
  let shown = "";
  if (request.fsType !== "") {
    args.push("-t", request.fsType);
    shown += ` -t ${request.fsType}`;
  }
  if (request.options.length + sensitive.length > 0) {
    args.push("-o", [...request.options, ...sensitive].join(","));
    shown += ` -o ${[...request.options, ...sensitive.map(() => masked)].join(",")}`;
  }
  if (request.source !== "") {
    args.push(request.source);
    shown += ` ${request.source}`;
  }
  args.push(request.target);
  return { args, shown: `${shown} ${request.target}` };
}

/** The two calls of a bind mount: first the bind itself, then a remount with the other options; undefined when it is no bind. */
export function splitBind(request: MountRequest): readonly [MountRequest, MountRequest] | undefined {
  if (!request.options.includes("bind") && !request.options.includes("rbind")) return undefined;
  if (request.options.includes("remount")) return undefined;
  const kind = request.options.includes("rbind") ? "rbind" : "bind";
  const first = [kind, ...request.options.filter((option) => option === "_netdev")];
  const rest = request.options.filter((option) => option !== "bind" && option !== "rbind" && option !== "remount");
  return [
    { ...request, options: first, sensitiveOptions: [] },
    { ...request, options: [kind, "remount", ...rest] },
  ];
}

/** Options of a bind that need the second call. */
export function needsBindRemount(request: MountRequest): boolean {
  return (
    request.options.some((option) => !["bind", "rbind", "_netdev", "remount"].includes(option)) ||
    (request.sensitiveOptions ?? []).length > 0
  );
}

/** `how`: Go's word for the end of the process, such as `exit status 32`. */
export function mountFailed(request: MountRequest, how: string, output: string): VolumeError {
  const { shown } = mountArguments(request);
  return new VolumeError(`mount failed: ${how}\nMounting command: mount\nMounting arguments: ${shown}\nOutput: ${output}`);
}

export function unmountFailed(target: string, how: string, output: string): VolumeError {
  return new VolumeError(`unmount failed: ${how}\nUnmounting arguments: ${target}\nOutput: ${output}`);
}

/** A growth by path of what is not there: the tools would grow whatever is. */
export function notMountedThere(device: string, target: string): VolumeError {
  return new VolumeError(`resize of device ${device} failed: it is not what is mounted at ${target}`, "refused");
}
