"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { ClaimGrowth } from "@/components/claims/claim-growth";
import { ClaimHead } from "@/components/claims/claim-head";
import { ClaimOperations } from "@/components/claims/claim-operations";
import { ClaimSizes } from "@/components/claims/claim-sizes";
import { ClaimUsers } from "@/components/claims/claim-users";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import { isNotFound, NotFound, Unreadable } from "@/components/shell/states";
import { useTRPC, type Outputs } from "@/components/trpc";
import { EventList } from "@/components/ui/event-list";
import { Proofs } from "@/components/ui/proof";
import { Section } from "@/components/ui/section";
import { StageList } from "@/components/ui/stage-list";
import { Ago } from "@/components/ui/time";
import { BarSection } from "@/components/volumes/volume-skeleton";
import { messageOf } from "@/lib/errors";

export type ClaimDetail = Outputs["claim"]["get"];

export interface ClaimAddress {
  readonly namespace: string;
  readonly name: string;
}

export function ClaimPage({ address }: { address: ClaimAddress }) {
  const { cluster } = useCluster();
  const query = useQuery(useTRPC().claim.get.queryOptions({ cluster, ...address }));
  if (query.error && isNotFound(query.error)) {
    return (
      <NotFound
        title={`Claim ${address.name} is not here`}
        actions={
          <Link className="btn" href={paths.filtered(cluster, "claims", `namespace:${address.namespace}`)}>
            Claims of {address.namespace}
          </Link>
        }
      >
        <p>{messageOf(query.error)}. It may have been deleted.</p>
      </NotFound>
    );
  }
  if (query.error && !query.data) {
    return <Unreadable what={`Claim ${address.name} could not be read`} error={query.error} onRetry={() => void query.refetch()} skeleton={<ClaimSkeleton />} />;
  }
  if (!query.data) return <ClaimSkeleton />;
  const detail = query.data;
  return (
    <>
      <ClaimHead detail={detail} />
      <div className="pad cols grid-cols-1 gap-4 desk:grid-cols-[minmax(0,1fr)_23rem]">
        <div className="cols gap-4">
          <ClaimSizes row={detail.row} />
          <ClaimOperations detail={detail} />
          <ClaimWay detail={detail} />
        </div>
        <div className="cols gap-4">
          <ClaimGrowth address={address} />
          <ClaimUsers detail={detail} />
          <Section title="Events" aside="newest first">
            <EventList events={detail.events} />
          </Section>
        </div>
      </div>
    </>
  );
}

function ClaimSkeleton() {
  return (
    <div className="pad pt-4" aria-busy="true">
      <BarSection title="Size" rows={4} />
    </div>
  );
}

function ClaimWay({ detail: { way } }: { detail: ClaimDetail }) {
  return (
    <Section title="Where it stands">
      <StageList
        items={way.stages.map((stage) => ({
          key: stage.stage,
          name: stage.stage,
          state: stage.state,
          when: stage.since && <Ago at={stage.since} bare />,
          proof: <Proofs proofs={stage.proofs} />,
          open: way.word !== "ok" && stage.stage === way.at,
        }))}
      />
    </Section>
  );
}
