"use client";

import { keepPreviousData, useQueries, useQueryClient } from "@tanstack/react-query";
import { useTRPC, type Outputs } from "@/components/trpc";
import type { VolumeRow } from "@/components/volumes/columns";
import type { VolumeQuery } from "@/components/volumes/volume-query";

export const pageRows = 100;

type VolumeList = Outputs["volume"]["list"];

export interface VolumePages {
  /** Of the newest answer: counts, ledger, command. */
  readonly list: VolumeList | undefined;
  readonly error: unknown;
  readonly rowAt: (index: number) => VolumeRow | undefined;
  readonly refetch: () => void;
  /** Asks where a row stands now; undefined when it is gone. */
  readonly findRow: (key: string) => Promise<number | undefined>;
}

/** The windows of the list that the seen rows lie in. What was seen stays while the next answer is on its way. */
export function useVolumePages(query: VolumeQuery, firstRow: number, lastRow: number): VolumePages {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const first = Math.floor(firstRow / pageRows);
  const count = Math.floor(Math.max(firstRow, lastRow) / pageRows) - first + 1;
  const results = useQueries({
    queries: Array.from({ length: count }, (_, index) => ({
      ...trpc.volume.list.queryOptions({ ...query, offset: (first + index) * pageRows, limit: pageRows }),
      placeholderData: keepPreviousData,
    })),
  });
  const lists = results.flatMap((result) => (result.data ? [result.data] : []));
  const list = lists.reduce<VolumeList | undefined>((newest, each) => (newest && newest.version >= each.version ? newest : each), undefined);
  return {
    list,
    error: results.find((result) => result.error)?.error ?? null,
    rowAt: (index) => lists.map((each) => each.rows[index - each.offset]).find((row) => row !== undefined),
    refetch: () => results.forEach((result) => void result.refetch()),
    findRow: async (key) => {
      const answer = await queryClient.fetchQuery({
        ...trpc.volume.list.queryOptions({ ...query, offset: 0, limit: 1, anchor: key }),
        staleTime: 0,
        gcTime: 0,
      });
      return answer.anchorIndex;
    },
  };
}
