/** Command lines to copy into a POSIX shell: every word is quoted, whatever a name holds, and each names its cluster. */
import { shellQuote } from "@/lib/shell-quote";

/** Makes a command line of the words that follow `kubectl`. */
export type Kubectl = (...words: readonly string[]) => string;

/** `flags` lead to one cluster, such as `--context prod`: a copied line must not reach whichever is the shell's current one. */
export function kubectlWith(flags: readonly string[]): Kubectl {
  return (...words) => ["kubectl", ...flags, ...words].map(shellQuote).join(" ");
}

const perVolume = `{{range .items}}{{$pod := .}}{{range .spec.volumes}}{{$pod.metadata.namespace}}/{{$pod.metadata.name}}/{{.name}}{{"\\n"}}{{end}}{{end}}`;

/** The keys of all volumes of all pods, one a line. */
export function volumesCommand(kubectl: Kubectl): string {
  return kubectl("get", "pods", "--all-namespaces", "-o", `go-template=${perVolume}`);
}

export interface NamedObject {
  readonly resource: string;
  readonly name: string;
  readonly namespace?: string;
}

export function getCommand(kubectl: Kubectl, { resource, name, namespace }: NamedObject): string {
  return kubectl("get", ...(namespace === undefined ? [] : ["-n", namespace]), resource, name, "-o", "yaml");
}

/** Pod, claim and persistent volume, a line each. */
export function volumeCommands(kubectl: Kubectl, volume: { namespace: string; pod: string; claim?: string; persistentVolume?: string }): string {
  const { namespace, pod, claim, persistentVolume } = volume;
  const objects: NamedObject[] = [{ resource: "pod", name: pod, namespace }];
  if (claim !== undefined) objects.push({ resource: "persistentvolumeclaim", name: claim, namespace });
  if (persistentVolume !== undefined) objects.push({ resource: "persistentvolume", name: persistentVolume });
  return objects.map((object) => getCommand(kubectl, object)).join("\n");
}
