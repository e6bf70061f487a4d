/** What objects are called in comparisons: uids differ from run to run. */
import type { KubeObject } from "@/lib/kube/meta";

export interface World {
  readonly pods: readonly KubeObject[];
  readonly claims: readonly KubeObject[];
  readonly volumes: readonly KubeObject[];
}

/** Readable names of uids, also of objects that are gone. */
export class Names {
  private readonly byUid = new Map<string, string>();

  learn({ pods, claims, volumes }: World): void {
    for (const [kind, objects] of Object.entries({ pod: pods, claim: claims, volume: volumes })) {
      for (const { metadata } of objects) this.byUid.set(metadata.uid ?? "", `<${kind} ${metadata.name ?? ""}>`);
    }
  }

  inText(text: string): string {
    return text.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (uid) => this.byUid.get(uid) ?? uid);
  }
}
