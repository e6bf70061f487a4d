"use client";

import dynamic from "next/dynamic";
import { useState } from "react";
import { Dialog } from "@/components/ui/dialog";
import type { VolumeDetail } from "@/components/volumes/detail-types";

/** The YAML writer is loaded only when somebody wants to read YAML. */
const ObjectYaml = dynamic(() => import("@/components/volumes/object-yaml").then((module) => module.ObjectYaml), {
  ssr: false,
  loading: () => <p className="part">…</p>,
});

const titles: Readonly<Record<VolumeDetail["objects"][number]["object"], string>> = {
  pod: "Pod",
  claim: "Claim",
  persistentVolume: "PV",
  storageClass: "Class",
  csiDriver: "CSIDriver",
};

interface YamlDialogProps {
  open: boolean;
  onClose: () => void;
  detail: VolumeDetail;
}

export function YamlDialog({ open, onClose, detail }: YamlDialogProps) {
  const [object, setObject] = useState(detail.objects[0]?.object ?? "pod");
  const shown = detail.objects.find((each) => each.object === object) ?? detail.objects[0];
  const { row } = detail;
  return (
    <Dialog open={open} onClose={onClose} title="YAML" about="Read fresh from the cluster. Values that may be secret are not shown.">
      <div className="tabs" role="group" aria-label="Objects">
        {detail.objects.map((each) => (
          <button key={each.object} type="button" aria-current={each === shown || undefined} onClick={() => setObject(each.object)}>
            {titles[each.object]}
          </button>
        ))}
      </div>
      {shown && <ObjectYaml key={shown.object} volume={{ namespace: row.namespace, pod: row.pod, volume: row.volume }} object={shown.object} name={shown.name} />}
    </Dialog>
  );
}
