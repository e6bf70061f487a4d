"use client";

import { useQuery } from "@tanstack/react-query";
import dynamic from "next/dynamic";
import Link from "next/link";
import { useState } from "react";
import type { ClaimDetail } from "@/components/claims/claim-page";
import { PageHead } from "@/components/shell/page-head";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import { useTRPC, useTRPCClient } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { AsKubectl } from "@/components/ui/kubectl";
import { ShortName } from "@/components/ui/plugin-name";
import { Status } from "@/components/ui/status";
import { YamlDialog } from "@/components/ui/yaml-dialog";
import { rightInWords, type MissingRight } from "@/lib/missing-right";

/** Loaded when somebody wants to grow something. */
const GrowDialog = dynamic(() => import("@/components/claims/grow-dialog").then((module) => module.GrowDialog), { ssr: false });

export function ClaimHead({ detail }: { detail: ClaimDetail }) {
  const { cluster } = useCluster();
  const client = useTRPCClient();
  const [yamlOpen, setYamlOpen] = useState(false);
  const [growing, setGrowing] = useState(false);
  const { row } = detail;
  const growth = useQuery(useTRPC().claim.growth.queryOptions({ cluster, namespace: row.namespace, name: row.name }));
  const calm = row.word === "ok";
  const standing = row.word === "working" && row.growsTo !== undefined ? `working: grows to ${row.growsTo}` : row.standing;
  return (
    <>
      <PageHead
        title={
          <>
            <span>{row.name}</span>
            <Status word={row.word} fill text={calm ? "ok" : standing} />
          </>
        }
        question={<ClaimFacts detail={detail} />}
        actions={
          <>
            <AsKubectl command={detail.command} about="The claim as the API holds it." />
            <Button look="quiet" icon="yaml" onClick={() => setYamlOpen(true)}>
              YAML
            </Button>
            <Button icon="grow" onClick={() => setGrowing(true)} refused={whyNotGrow(detail, growth.data?.missing)}>
              Grow
            </Button>
          </>
        }
      />
      <YamlDialog
        open={yamlOpen}
        onClose={() => setYamlOpen(false)}
        objects={[
          {
            title: "Claim",
            name: row.name,
            queryKey: [["claim", "object"], { input: { cluster, namespace: row.namespace, name: row.name }, type: "query" }],
            read: () => client.claim.object.query({ cluster, namespace: row.namespace, name: row.name }),
          },
        ]}
      />
      {growing && <GrowDialog row={row} onClose={() => setGrowing(false)} />}
    </>
  );
}

/** What is known to refuse before anybody asks; everything else is for the dialog's checks to say. */
function whyNotGrow({ row, operations }: ClaimDetail, missing: MissingRight | undefined): string | undefined {
  if (operations === undefined) return "This cluster is shown read-only: use the kubectl line, or grow it from a Voldeck that may change it.";
  if (missing) return `You may not: the right to ${rightInWords(missing)} is missing.`;
  if (operations.some(isUnderWay)) return "An expansion of this claim is running.";
  return row.granted === undefined ? "The claim is not bound yet." : undefined;
}

/** What failed, or what nobody takes up, goes on being tried: asking for less is the way out of it. */
function isUnderWay({ endedAt, progress }: NonNullable<ClaimDetail["operations"]>[number]): boolean {
  return endedAt === undefined && progress.status !== "failed" && progress.status !== "stuck";
}

function ClaimFacts({ detail: { row } }: { detail: ClaimDetail }) {
  const { cluster } = useCluster();
  return (
    <span className="facts">
      <span>
        Claim in <b>{row.namespace}</b>
      </span>
      <span>
        {row.className === undefined ? "No class" : "Class "}
        <span className="name">{row.className}</span>
        {row.mayGrow === true && "(may grow)"}
        {row.mayGrow === false && "(may not grow)"}
      </span>
      {row.persistentVolume && (
        <span>
          PV{" "}
          <span className="name">
            <ShortName name={row.persistentVolume} />
          </span>
        </span>
      )}
      {row.pods.map((pod) => (
        <span key={`${pod.name} ${pod.volume}`}>
          Used by{" "}
          <Link className="mono" href={paths.volume(cluster, { namespace: row.namespace, pod: pod.name, volume: pod.volume })} prefetch={false}>
            {pod.name}
          </Link>
          {pod.node && (
            <>
              on{" "}
              <Link className="mono" href={paths.node(cluster, pod.node)} prefetch={false}>
                {pod.node}
              </Link>
            </>
          )}
        </span>
      ))}
      <span>{[row.accessModes.join(", "), row.block ? "Block" : "Filesystem"].filter(Boolean).join(", ")}</span>
    </span>
  );
}
