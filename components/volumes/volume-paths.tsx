import { optionsInWords } from "@/components/ui/mount-options";
import { CopyButton } from "@/components/ui/copy";
import { PathText } from "@/components/ui/plugin-name";
import { Section } from "@/components/ui/section";
import { Ago } from "@/components/ui/time";
import { bytesInWords } from "@/components/ui/bytes";
import type { VolumeDetail } from "@/components/volumes/detail-types";

type OnNode = VolumeDetail["onNode"];
type Known = Extract<OnNode, { known: true }>;

/** Where it lies on its node: paths and lines of the mount table, as the node itself says. */
export function VolumePaths({ detail: { onNode, row } }: { detail: VolumeDetail }) {
  const title = row.node === undefined ? "Paths" : `Paths on ${row.node}`;
  if (!onNode.known) {
    return (
      <Section title={title} aside="unknown" padded>
        <p>{onNode.why}</p>
      </Section>
    );
  }
  return (
    <Section
      title={title}
      padded
      aside={
        <span>
          node, <Ago at={onNode.takenAt} />
        </span>
      }
    >
      {onNode.volume ? <Paths onNode={onNode} /> : <p>The node has nothing of this volume: no folder and no mount.</p>}
    </Section>
  );
}

function Paths({ onNode: { volume, mounts } }: { onNode: Known }) {
  if (!volume) return null;
  return (
    <dl className="paths">
      {volume.path !== "" && <PathRow label={volume.mode === "Block" ? "Device" : "Publish"} path={volume.path} />}
      {volume.deviceMountPath && <PathRow label="Stage" path={volume.deviceMountPath} />}
      {mounts.length > 0 && (
        <div>
          <dt>Mounts</dt>
          <dd>
            <span className="proof">
              {mounts.map((mount) => (
                <span key={mount.target} className="block" title={mount.line}>
                  <b>{mount.source}</b> on {tailOf(mount.target)} <b>{mount.fsType}</b> {optionsInWords(mount.options)}
                </span>
              ))}
            </span>
            <CopyButton text={mounts.map((mount) => mount.line).join("\n")} label="Copy mount lines" />
          </dd>
        </div>
      )}
      {volume.capacityBytes !== undefined && (
        <div>
          <dt>Real size</dt>
          <dd>
            <span className="proof">
              <span className="k">statfs</span> <b title={`${volume.capacityBytes} bytes`}>{bytesInWords(volume.capacityBytes)}</b>
              {volume.usedBytes !== undefined && <span className="k"> · {bytesInWords(volume.usedBytes)} used</span>}
            </span>
          </dd>
        </div>
      )}
      {volume.problem && (
        <div>
          <dt>Problem</dt>
          <dd className="proof">{volume.problem}</dd>
        </div>
      )}
    </dl>
  );
}

function PathRow({ label, path }: { label: string; path: string }) {
  const cut = path.lastIndexOf("/") + 1;
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <span className="proof">
          <span className="k">
            <PathText path={path.slice(0, cut)} />
          </span>
          <b>{path.slice(cut)}</b>
        </span>
        <CopyButton text={path} label={`Copy ${label.toLowerCase()} path`} />
      </dd>
    </div>
  );
}

function tailOf(path: string): string {
  const parts = path.split("/");
  return parts.length > 2 ? `…/${parts.slice(-2).join("/")}` : path;
}
