"use client";

import dynamic from "next/dynamic";
import Link from "next/link";
import { useState } from "react";
import { PageHead } from "@/components/shell/page-head";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import { useTRPCClient } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Icon } from "@/components/ui/icon";
import { AsKubectl } from "@/components/ui/kubectl";
import { ShortName } from "@/components/ui/plugin-name";
import { Status } from "@/components/ui/status";
import { YamlDialog } from "@/components/ui/yaml-dialog";
import type { VolumeDetail } from "@/components/volumes/detail-types";
import { ServedBy } from "@/components/volumes/columns";

/** Loaded when somebody wants to resize something. */
const ResizeDialog = dynamic(() => import("@/components/volumes/resize-dialog").then((module) => module.ResizeDialog), { ssr: false });

export function VolumeHead({ detail }: { detail: VolumeDetail }) {
  const [resizing, setResizing] = useState(false);
  const [yamlOpen, setYamlOpen] = useState(false);
  const { row } = detail;
  const { cluster } = useCluster();
  const client = useTRPCClient();
  const address = { cluster, namespace: row.namespace, pod: row.pod, volume: row.volume };
  const objects = detail.objects.map(({ object, name }) => ({
    title: objectTitles[object],
    name,
    queryKey: [["volume", "object"], { input: { ...address, object }, type: "query" }] as const,
    read: () => client.volume.object.query({ ...address, object }),
  }));
  const where = row.word === "ok" || row.word === "not applicable" ? row.word : `${row.word} at ${row.at}`;
  return (
    <>
      <PageHead
        title={
          <>
            <span>
              <span className="of">{row.pod} /</span> {row.volume}
            </span>
            <Status word={row.word} fill text={where} />
          </>
        }
        question={<VolumeFacts detail={detail} />}
        actions={
          <>
            <AsKubectl command={detail.command} about="The objects that this volume is made of." />
            <Button look="quiet" icon="yaml" onClick={() => setYamlOpen(true)}>
              YAML
            </Button>
            {detail.resize && (
              <Button icon="grow" onClick={() => setResizing(true)} refused={detail.resize.refused}>
                Resize
              </Button>
            )}
            {row.claim && (
              <Link className="btn" href={paths.claim(cluster, { namespace: row.namespace, name: row.claim })} prefetch={false}>
                <Icon name="claims" />
                Claim
              </Link>
            )}
          </>
        }
      />
      {resizing && <ResizeDialog row={row} onClose={() => setResizing(false)} />}
      <YamlDialog open={yamlOpen} onClose={() => setYamlOpen(false)} objects={objects} />
    </>
  );
}

const objectTitles: Readonly<Record<VolumeDetail["objects"][number]["object"], string>> = {
  pod: "Pod",
  claim: "Claim",
  persistentVolume: "PV",
  storageClass: "Class",
  csiDriver: "CSIDriver",
};

function VolumeFacts({ detail: { row, containers } }: { detail: VolumeDetail }) {
  const { cluster } = useCluster();
  return (
    <span className="facts">
      <span>
        Plugin{" "}
        {row.plugin.state === "one" ? (
          <Link className="mono" href={paths.plugin(cluster, row.plugin.name)} prefetch={false}>
            {row.plugin.name}
          </Link>
        ) : (
          <ServedBy row={row} />
        )}
        {row.driver && (
          <Link className="mono" href={paths.plugin(cluster, row.driver)} prefetch={false}>
            {row.driver}
          </Link>
        )}
      </span>
      {row.claim && (
        <span>
          Claim{" "}
          <Link className="mono" href={paths.claim(cluster, { namespace: row.namespace, name: row.claim })} prefetch={false}>
            {row.claim}
          </Link>
        </span>
      )}
      {row.persistentVolume && (
        <span>
          PV{" "}
          <span className="name">
            <ShortName name={row.persistentVolume} />
          </span>
        </span>
      )}
      {row.node && (
        <span>
          Node{" "}
          <Link className="mono" href={paths.node(cluster, row.node)} prefetch={false}>
            {row.node}
          </Link>
        </span>
      )}
      {containers.map((container) => (
        <span key={`${container.name} ${container.path}`} title={`container ${container.name}`}>
          {container.block ? "Device at" : "Mounted at"} <span className="name">{container.path}</span>
          {container.readOnly && " read-only"}
        </span>
      ))}
    </span>
  );
}
