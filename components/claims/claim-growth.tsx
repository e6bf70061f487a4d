import { useQuery } from "@tanstack/react-query";
import type { ClaimAddress } from "@/components/claims/claim-page";
import { CheckList, countsOf } from "@/components/operations/check-list";
import { useCluster } from "@/components/shell/status-context";
import { useTRPC } from "@/components/trpc";
import { CopyField } from "@/components/ui/copy";
import { Section } from "@/components/ui/section";
import { BarSection } from "@/components/volumes/volume-skeleton";
import { messageOf } from "@/lib/errors";
import { rightInWords, ruleFor } from "@/lib/missing-right";

const title = "May it grow?";

/** What the dialog will check, as far as it can be said before a size is typed. */
export function ClaimGrowth({ address }: { address: ClaimAddress }) {
  const { cluster } = useCluster();
  const query = useQuery(useTRPC().claim.growth.queryOptions({ cluster, ...address }));
  if (query.data) {
    return (
      <Section title={title} aside={countsOf(query.data.checks)} padded>
        <CheckList checks={query.data.checks} stacked />
        {query.data.missing && (
          <>
            <p>
              Missing: <span className="name">{rightInWords(query.data.missing)}</span>. Ask a cluster admin to apply:
            </p>
            <CopyField label="Rule" text={ruleFor([query.data.missing], "voldeck-grow")} />
          </>
        )}
      </Section>
    );
  }
  if (!query.error) return <BarSection title={title} rows={6} />;
  return (
    <Section title={title} aside="unknown" padded>
      <p className="proof text-failed-fg" role="alert">
        {messageOf(query.error)}
      </p>
    </Section>
  );
}
