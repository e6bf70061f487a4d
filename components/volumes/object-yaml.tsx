"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { stringify } from "yaml";
import { useCluster } from "@/components/shell/status-context";
import { Failed } from "@/components/shell/states";
import { useTRPC, type Outputs } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { CopyField } from "@/components/ui/copy";
import type { VolumeAddress } from "@/components/volumes/volume-page";
import type { VolumeDetail } from "@/components/volumes/detail-types";

interface ObjectYamlProps {
  volume: VolumeAddress;
  object: VolumeDetail["objects"][number]["object"];
  name: string;
}

/** One object as YAML, with managedFields folded away until asked for; to copy or to download. */
export function ObjectYaml({ volume, object, name }: ObjectYamlProps) {
  const { cluster } = useCluster();
  const [whole, setWhole] = useState(false);
  const query = useQuery({ ...useTRPC().volume.object.queryOptions({ cluster, ...volume, object }), staleTime: 0 });
  if (query.error) return <Failed what={`${name} could not be read`} error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <p className="part">…</p>;
  const text = yamlOf(query.data.object, whole);
  const folded = query.data.object.metadata.managedFields !== undefined;
  return (
    <div className="part">
      <CopyField label="YAML" text={text} />
      <div className="row-acts">
        <Button icon="download" onClick={() => download(`${name}.yaml`, text)}>
          Download
        </Button>
        {folded && (
          <Button look="quiet" aria-pressed={whole} onClick={() => setWhole(!whole)}>
            {whole ? "Fold managedFields" : "Show managedFields"}
          </Button>
        )}
      </div>
    </div>
  );
}

function yamlOf(object: Outputs["volume"]["object"]["object"], whole: boolean): string {
  if (whole) return stringify(object, { lineWidth: 0 });
  const { managedFields: _folded, ...metadata } = object.metadata;
  return stringify({ ...object, metadata }, { lineWidth: 0 });
}

function download(fileName: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(url);
}
