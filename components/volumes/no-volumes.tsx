import { Empty } from "@/components/shell/states";
import type { Outputs } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import type { VolumeQuery } from "@/components/volumes/volume-query";

interface NoVolumesProps {
  list: Outputs["volume"]["list"];
  query: VolumeQuery;
  onClear: () => void;
}

/** Nothing to show: because of the filter, or because nothing is there. */
export function NoVolumes({ list, query, onClear }: NoVolumesProps) {
  const asked = [query.filter, query.status && `status ${query.status}`].filter((text) => text).join(", ");
  if (asked === "") {
    return (
      <Empty icon="volumes" title="No pod has a volume yet">
        <p>
          Every volume of every pod appears here as soon as the pod is in the API{list.hiddenTokens > 0 && "; token volumes are left out"}. On a
          node of its own, put a manifest into the manifests folder.
        </p>
      </Empty>
    );
  }
  return (
    <Empty icon="volumes" title={`No volumes match “${asked}”`} actions={<Button onClick={onClear}>Clear the filter</Button>}>
      <p>{list.total.toLocaleString()} volumes are here; the filter leaves none of them.</p>
    </Empty>
  );
}
