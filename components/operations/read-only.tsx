import { PageHead } from "@/components/shell/page-head";
import { Empty } from "@/components/shell/states";
import { useCluster } from "@/components/shell/status-context";

/** In place of what was changed, where nothing can be. */
export function ReadOnly() {
  const name = useCluster().status?.summary.name;
  return (
    <>
      <PageHead title="Operations" question="What was done, by whom, how did it end?" />
      <Empty icon="lock" title="Nothing is changed from here">
        <p>
          <b>{name}</b> is shown read-only, so there are no operations. Its claims and volumes are shown as ever; each page gives the kubectl line
          that reads the same.
        </p>
      </Empty>
    </>
  );
}

/** True once it is known that this cluster takes no changes from here. */
export function useReadOnly(): boolean {
  const { status } = useCluster();
  return status !== undefined && status.counts.operations === undefined;
}
