/** The URLs of the product, in one place. */
const part = (text: string) => encodeURIComponent(text.toWellFormed());

/** One part of an address as it reads; one that does not decode stands as it is. */
export function decodedPart(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Plugin names hold a slash; in URLs it is the `~` that the kubelet's own folders use. */
export function pluginSegment(name: string): string {
  return name.replaceAll("/", "~");
}

export function pluginOfSegment(segment: string): string {
  return segment.replaceAll("~", "/");
}

export const paths = {
  list: (cluster: string, noun: string) => `/c/${part(cluster)}/${noun}`,
  filtered: (cluster: string, noun: string, filter: string) => `/c/${part(cluster)}/${noun}?q=${part(filter)}`,
  plugin: (cluster: string, name: string) => `/c/${part(cluster)}/plugins/${part(pluginSegment(name))}`,
  claim: (cluster: string, claim: { namespace: string; name: string }) => `/c/${part(cluster)}/claims/${part(claim.namespace)}/${part(claim.name)}`,
  node: (cluster: string, name: string) => `/c/${part(cluster)}/nodes/${part(name)}`,
  operation: (cluster: string, id: string) => `/c/${part(cluster)}/operations/${part(id)}`,
  volume: (cluster: string, volume: { namespace: string; pod: string; volume: string; uid?: string | undefined }) =>
    `/c/${part(cluster)}/volumes/${part(volume.namespace)}/${part(volume.pod)}/${part(volume.volume)}` +
    (volume.uid === undefined ? "" : `?uid=${part(volume.uid)}`),
};
