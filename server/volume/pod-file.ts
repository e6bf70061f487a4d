/** Source: pkg/volume/util/util.go (LoadPodFromFile) of v1.37.2. */
import { messageOf } from "@/lib/errors";
import type { Pod } from "@/lib/kube/pods";
import { VolumeError } from "@/server/volume/errors";
import type { Files } from "@/server/volume/ports";

/** A pod from a YAML or JSON file, such as a recycler's template. `decode` makes a pod, with defaults, of the text. */
export async function loadPodFromFile(path: string, files: Pick<Files, "readText">, decode: (text: string) => Pod): Promise<Pod> {
  if (path === "") throw new VolumeError("file path not specified");
  const text = await files.readText(path).catch((error: unknown) => {
    throw new VolumeError(`failed to read file path ${path}: ${messageOf(error)}`, "volume-error", error);
  });
  if (text === "") throw new VolumeError(`file was empty: ${path}`);
  try {
    return decode(text);
  } catch (error) {
    throw new VolumeError(`failed decoding file: ${messageOf(error)}`, "volume-error", error);
  }
}
