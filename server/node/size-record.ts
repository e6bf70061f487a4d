/**
 * What this node has made of the sizeLimits of memory-backed volumes, kept in a file of our own, because the size of a mount alone does
 * not tell which sizeLimit it was made from. The kubelet keeps the same in its checkpoints of allocated and actuated pods.
 */
import { codeOf } from "@/lib/errors";
import { joinPath } from "@/lib/go-path";
import { tryParseQuantity, type Quantity } from "@/lib/quantity";
import type { Files, Log } from "@/server/volume/ports";

export interface SizeRecord {
  /** The sizeLimit that this node took on. */
  readonly allocated: Quantity;
  /** The last one that the mount was given; undefined: not known to be mounted yet. */
  readonly actuated: Quantity | undefined;
  /** A remount to another size was begun, and how it ended is not on record. */
  readonly inDoubt: boolean;
}

export interface PodSizes {
  /** The pod's generation at which a changed size was taken on; undefined: none has changed since the pod came. */
  readonly admitted: number | undefined;
  /** By the volume's name in the pod's spec. */
  readonly volumes: ReadonlyMap<string, SizeRecord>;
}

const fileName = "volume-sizes.json";

/** Of all pods of the node, by uid. Calls that change it must not overlap. */
export class SizeRecords {
  private pods: Map<string, PodSizes> | undefined;

  constructor(private readonly options: { readonly folder: string; readonly files: Files; readonly log: Log }) {}

  /** A file that can't be understood counts as none: sizes are then read from the mounts. */
  async load(): Promise<void> {
    this.pods ??= await this.read();
  }

  get(podUID: string): PodSizes | undefined {
    return this.pods?.get(podUID);
  }

  async put(podUID: string, sizes: PodSizes): Promise<void> {
    await this.write(new Map(this.pods).set(podUID, sizes));
  }

  /** Forgets pods that are gone. */
  async keepOnly(isKept: (podUID: string) => boolean): Promise<void> {
    const kept = new Map(Array.from(this.pods ?? []).filter(([podUID]) => isKept(podUID)));
    if (kept.size !== (this.pods?.size ?? 0)) await this.write(kept);
  }

  /** The whole file or nothing: a process that ends meanwhile leaves the old one. */
  private async write(pods: Map<string, PodSizes>): Promise<void> {
    const { files, folder } = this.options;
    const path = joinPath(folder, fileName);
    await files.writeFile(`${path}.new`, toText(pods), 0o600);
    await files.rename(`${path}.new`, path);
    this.pods = pods;
  }

  private async read(): Promise<Map<string, PodSizes>> {
    const { files, folder, log } = this.options;
    const path = joinPath(folder, fileName);
    try {
      return fromText(await files.readText(path));
    } catch (error) {
      if (codeOf(error) !== "ENOENT") log.error("the recorded sizes of memory-backed volumes can't be read", error, { path });
      return new Map();
    }
  }
}

function toText(pods: ReadonlyMap<string, PodSizes>): string {
  const listed = Array.from(pods, ([podUID, { admitted, volumes }]) => ({
    podUID,
    admitted,
    volumes: Array.from(volumes, ([name, { allocated, actuated, inDoubt }]) => ({ name, allocated, actuated, inDoubt })),
  }));
  return `${JSON.stringify({ version: 1, pods: listed })}\n`;
}

function fromText(text: string): Map<string, PodSizes> {
  const parsed: unknown = JSON.parse(text);
  return new Map(
    listAt(parsed, "pods").map((pod) => {
      const admitted = valueAt(pod, "admitted");
      const volumes = new Map(listAt(pod, "volumes").map((volume) => [textAt(volume, "name"), recordOf(volume)]));
      return [textAt(pod, "podUID"), { admitted: typeof admitted === "number" ? admitted : undefined, volumes }];
    }),
  );
}

function recordOf(volume: unknown): SizeRecord {
  const allocated = quantityAt(volume, "allocated");
  if (!allocated) throw new SyntaxError("allocated is no quantity");
  return { allocated, actuated: quantityAt(volume, "actuated"), inDoubt: valueAt(volume, "inDoubt") === true };
}

function valueAt(object: unknown, key: string): unknown {
  if (typeof object !== "object" || object === null || !Object.hasOwn(object, key)) return undefined;
  return Reflect.get(object, key);
}

function textAt(object: unknown, key: string): string {
  const value = valueAt(object, key);
  if (typeof value !== "string") throw new SyntaxError(`${key} is no text`);
  return value;
}

function listAt(object: unknown, key: string): readonly unknown[] {
  const value = valueAt(object, key);
  if (!Array.isArray(value)) throw new SyntaxError(`${key} is no list`);
  return value;
}

function quantityAt(object: unknown, key: string): Quantity | undefined {
  const value = valueAt(object, key);
  return typeof value === "string" ? tryParseQuantity(value) : undefined;
}
