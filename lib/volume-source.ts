/** What a pod's volume is made from, in the words of the API. */
import type { Volume } from "@/lib/kube/volumes";

export interface SourceInWords {
  /** The field of the volume, such as `emptyDir`. */
  readonly kind: string;
  /** The object, path or driver it names. */
  readonly name?: string;
}

type Named = (volume: Volume) => string | undefined;

const names: Readonly<Record<string, Named>> = {
  persistentVolumeClaim: (volume) => volume.persistentVolumeClaim?.claimName,
  configMap: (volume) => volume.configMap?.name,
  secret: (volume) => volume.secret?.secretName,
  hostPath: (volume) => volume.hostPath?.path,
  emptyDir: (volume) => volume.emptyDir?.medium || undefined,
  flexVolume: (volume) => volume.flexVolume?.driver,
  csi: (volume) => volume.csi?.driver,
  image: (volume) => volume.image?.reference,
  nfs: (volume) => volume.nfs && `${volume.nfs.server}:${volume.nfs.path}`,
  iscsi: (volume) => volume.iscsi?.iqn,
  gitRepo: (volume) => volume.gitRepo?.repository,
};

/** A volume without any source is an emptyDir, as the API server makes it. */
export function sourceInWords(volume: Volume): SourceInWords {
  const kind = Object.keys(volume).find((key) => key !== "name" && Reflect.get(volume, key) !== undefined) ?? "emptyDir";
  const name = Object.hasOwn(names, kind) ? names[kind]?.(volume) : undefined;
  return name === undefined ? { kind } : { kind, name };
}

/** The token that every pod gets without asking; lists leave it out until asked. */
export function isTokenVolume(volume: Volume): boolean {
  return volume.projected?.sources?.some((source) => source.serviceAccountToken !== undefined) === true && volume.name.startsWith("kube-api-access-");
}
