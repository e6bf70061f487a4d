/** vol_data.json: what a CSI volume's unmount and reconstruction need to know. Source: pkg/volume/csi/csi_util.go of v1.37.2. */
import { codeOf, isErrorNamed, messageOf } from "@/lib/errors";
import { decodeFirstGoJSON, stringMapOfGoJSON } from "@/lib/go-json";
import { joinPath } from "@/lib/go-path";
import { goJson } from "@/lib/go-text";
import { wrap } from "@/server/volume/errors";
import { log } from "@/server/volume/plugins/csi/source";
import type { Files } from "@/server/volume/ports";

const fileName = "vol_data.json";

/** All values are texts; a key that is missing is "". */
export interface VolumeData {
  readonly specVolID: string;
  readonly volumeHandle: string;
  readonly driverName: string;
  readonly nodeName: string;
  readonly attachmentID: string;
  readonly volumeLifecycleMode: string;
  readonly seLinuxMountContext: string;
}

/** Throws VolumeError with the file's name and what Go says of it; the cause keeps its code (`ENOENT`). */
export async function loadVolumeData(files: Files, dir: string): Promise<VolumeData> {
  const path = joinPath(dir, fileName);
  const text = await files.readText(path).catch((error: unknown) => {
    throw wrap(log(`failed to open volume data file [${path}]: ${messageOf(error)}`), error);
  });
  try {
    const map = stringMapOfGoJSON(decodeFirstGoJSON(text));
    const get = (key: keyof VolumeData): string => map.get(key) ?? "";
    return {
      specVolID: get("specVolID"),
      volumeHandle: get("volumeHandle"),
      driverName: get("driverName"),
      nodeName: get("nodeName"),
      attachmentID: get("attachmentID"),
      volumeLifecycleMode: get("volumeLifecycleMode"),
      seLinuxMountContext: get("seLinuxMountContext"),
    };
  } catch (error) {
    throw wrap(log(`failed to parse volume data file [${path}]: ${messageOf(error)}`), error);
  }
}

/** Whether an error of loadVolumeData says that there is no file. */
export function isMissingVolumeData(error: unknown): boolean {
  return isErrorNamed(error, "VolumeError") && codeOf(error.cause) === "ENOENT";
}

export async function saveVolumeData(files: Files, dir: string, data: Partial<VolumeData>): Promise<void> {
  const path = joinPath(dir, fileName);
  try {
    await files.writeFile(path, `${goJson(data)}\n`, 0o644);
  } catch (error) {
    throw wrap(log(`failed to save volume data file ${path}: ${messageOf(error)}`), error);
  }
}
