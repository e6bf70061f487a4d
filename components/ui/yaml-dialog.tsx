"use client";

import dynamic from "next/dynamic";
import { useState } from "react";
import { Dialog } from "@/components/ui/dialog";
import type { YamlObject } from "@/components/ui/object-yaml";

/** The YAML writer is loaded only when somebody wants to read YAML. */
const ObjectYaml = dynamic(() => import("@/components/ui/object-yaml").then((module) => module.ObjectYaml), {
  ssr: false,
  loading: () => <p className="part">…</p>,
});

interface YamlDialogProps {
  open: boolean;
  onClose: () => void;
  objects: readonly YamlObject[];
}

export function YamlDialog({ open, onClose, objects }: YamlDialogProps) {
  const [title, setTitle] = useState(objects[0]?.title);
  const shown = objects.find((each) => each.title === title) ?? objects[0];
  return (
    <Dialog open={open} onClose={onClose} title="YAML" about="Read fresh from the cluster. Values that may be secret are not shown.">
      <div className="tabs" role="group" aria-label="Objects">
        {objects.map((each) => (
          <button key={each.title} type="button" aria-current={each === shown || undefined} onClick={() => setTitle(each.title)}>
            {each.title}
          </button>
        ))}
      </div>
      {shown && <ObjectYaml key={shown.title} object={shown} />}
    </Dialog>
  );
}
