/** Command lines to copy into a POSIX shell: every word is quoted, whatever a name holds. */
import { shellQuote } from "@/lib/shell-quote";

export function kubectl(...words: readonly string[]): string {
  return ["kubectl", ...words].map(shellQuote).join(" ");
}

const perVolume = `{{range .items}}{{$pod := .}}{{range .spec.volumes}}{{$pod.metadata.namespace}}/{{$pod.metadata.name}}/{{.name}}{{"\\n"}}{{end}}{{end}}`;

/** The keys of all volumes of all pods, one a line. */
export function volumesCommand(): string {
  return kubectl("get", "pods", "--all-namespaces", "-o", `go-template=${perVolume}`);
}

export function getCommand(resource: string, name: string, namespace?: string): string {
  return kubectl("get", ...(namespace === undefined ? [] : ["-n", namespace]), resource, name, "-o", "yaml");
}

/** Pod, claim and persistent volume in one list. */
export function volumeCommands(volume: { namespace: string; pod: string; claim?: string; persistentVolume?: string }): string {
  const lines = [getCommand("pod", volume.pod, volume.namespace)];
  if (volume.claim !== undefined) lines.push(getCommand("persistentvolumeclaim", volume.claim, volume.namespace));
  if (volume.persistentVolume !== undefined) lines.push(getCommand("persistentvolume", volume.persistentVolume));
  return lines.join("\n");
}
