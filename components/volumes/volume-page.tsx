"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import { isNotFound, NotFound, Unreadable } from "@/components/shell/states";
import { useTRPC } from "@/components/trpc";
import { messageOf } from "@/lib/errors";
import { useUrlState } from "@/components/list/url-state";
import { VolumeEvents } from "@/components/volumes/volume-events";
import { VolumeHead } from "@/components/volumes/volume-head";
import { VolumeMatch } from "@/components/volumes/volume-match";
import { VolumePaths } from "@/components/volumes/volume-paths";
import { VolumeSkeleton } from "@/components/volumes/volume-skeleton";
import { VolumeWay } from "@/components/volumes/volume-way";

export interface VolumeAddress {
  readonly namespace: string;
  readonly pod: string;
  readonly volume: string;
}

export function VolumePage({ address }: { address: VolumeAddress }) {
  const { cluster } = useCluster();
  const uid = useUrlState().get("uid");
  const query = useQuery(useTRPC().volume.get.queryOptions({ cluster, ...address }));
  if (query.error && isNotFound(query.error)) return <VolumeGone cluster={cluster} address={address} text={messageOf(query.error)} />;
  if (query.error && !query.data) {
    const what = `Volume ${address.volume} of ${address.pod} could not be read`;
    return <Unreadable what={what} error={query.error} onRetry={() => void query.refetch()} skeleton={<VolumeSkeleton />} />;
  }
  if (!query.data) return <VolumeSkeleton />;
  const detail = query.data;
  return (
    <>
      {uid !== "" && uid !== detail.row.podUid && <Replaced pod={address.pod} />}
      <VolumeHead detail={detail} />
      <div className="pad cols grid-cols-1 gap-4 desk:grid-cols-[minmax(0,1.12fr)_minmax(0,1fr)]">
        <div className="cols gap-4">
          <VolumeWay detail={detail} />
          <VolumePaths detail={detail} />
        </div>
        <div className="cols gap-4">
          <VolumeMatch detail={detail} />
          <VolumeEvents detail={detail} />
        </div>
      </div>
    </>
  );
}

/** The link was made for an earlier pod of this name. */
function Replaced({ pod }: { pod: string }) {
  return (
    <div className="banner b-rec" role="status">
      <p>
        <b>This pod was replaced.</b> The link was made for an earlier pod named {pod}; what you see is the one that stands there now.
      </p>
    </div>
  );
}

function VolumeGone({ cluster, address, text }: { cluster: string; address: VolumeAddress; text: string }) {
  return (
    <NotFound
      title={`${address.volume} of ${address.pod} is not here`}
      actions={
        <Link className="btn" href={paths.filtered(cluster, "volumes", `namespace:${address.namespace}`)}>
          Volumes of {address.namespace}
        </Link>
      }
    >
      <p>{text}. It may have been deleted, or it may come back under another name.</p>
    </NotFound>
  );
}
