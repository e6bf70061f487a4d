"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Failed } from "@/components/shell/states";
import { Button } from "@/components/ui/button";
import { CopyField } from "@/components/ui/copy";
import type { KubeObject } from "@/lib/kube/meta";
import { yamlText } from "@/lib/kube/yaml-text";

export interface YamlObject {
  /** What the tab is called, such as `Pod`. */
  readonly title: string;
  readonly name: string;
  /** The procedure's path and input: what the answer is kept under. */
  readonly queryKey: readonly [readonly [string, string], object];
  readonly read: () => Promise<{ readonly object: KubeObject }>;
}

/** One object as YAML, with managedFields folded away until asked for; to copy or to download. */
export function ObjectYaml({ object: { name, queryKey, read } }: { object: YamlObject }) {
  const [whole, setWhole] = useState(false);
  const query = useQuery({ queryKey, queryFn: read, staleTime: 0 });
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

function yamlOf(object: KubeObject, whole: boolean): string {
  if (whole) return yamlText(object);
  const { managedFields: _folded, ...metadata } = object.metadata;
  return yamlText({ ...object, metadata });
}

function download(fileName: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(url);
}
