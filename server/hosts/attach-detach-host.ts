/** The host of the attach/detach controller: the only one with CSINode and VolumeAttachment listers. */
import type { CSIDriver, CSINode, VolumeAttachment } from "@/lib/kube/storage";
import type { AttachDetachVolumeHost, Lister } from "@/server/volume/host";
import { ControllerHost } from "./controller-hosts";
import type { ControllerHostOptions } from "./controller-hosts";

export interface AttachDetachHostOptions extends ControllerHostOptions {
  readonly csiNodeLister?: Lister<CSINode>;
  readonly volumeAttachmentLister?: Lister<VolumeAttachment>;
  readonly csiDriverLister?: Lister<CSIDriver>;
}

const refusal = (method: string): string => `${method} not supported by Attach/Detach controller's VolumeHost implementation`;

export class AttachDetachHost extends ControllerHost implements AttachDetachVolumeHost {
  constructor(private readonly listers: AttachDetachHostOptions) {
    // The real one has no event recorder.
    super(
      { ...listers, eventRecorder: undefined },
      {
        component: "attachDetachController",
        nodeLabels: "GetNodeLabels() unsupported in Attach/Detach controller",
        wrapperMounter: refusal("NewWrapperMounter"),
        wrapperUnmounter: refusal("NewWrapperUnmounter"),
      },
    );
  }

  csiNodeLister(): Lister<CSINode> | undefined {
    return this.listers.csiNodeLister;
  }

  volumeAttachmentLister(): Lister<VolumeAttachment> | undefined {
    return this.listers.volumeAttachmentLister;
  }

  csiDriverLister(): Lister<CSIDriver> | undefined {
    return this.listers.csiDriverLister;
  }

  isAttachDetachController(): boolean {
    return true;
  }
}
