import { countText } from "@/components/manifests/use-manifests";
import { DialogPart } from "@/components/ui/dialog";
import type { ManifestState } from "@/lib/manifests";

/** What became of each file: errors with file and line, and the kinds that are only kept. */
export function ManifestDetails({ state: { folder, problem, files, errors, kept } }: { state: ManifestState }) {
  return (
    <>
      {problem !== undefined && (
        <DialogPart title="The folder can't be read">
          <p className="proof text-failed-fg">{problem}</p>
          <p>What its files brought stays. It is looked for again every few seconds.</p>
        </DialogPart>
      )}
      {errors.length > 0 && (
        <DialogPart title="Errors" aside={errors.length}>
          <ul aria-label="Errors of the manifests">
            {errors.map((error) => (
              <li key={`${error.file}:${error.line} ${error.message}`} className="py-1">
                <span className="name">
                  {error.file}:{error.line}
                </span>
                <span className="proof block break-words whitespace-pre-wrap text-failed-fg">{error.message}</span>
              </li>
            ))}
          </ul>
          <p className="muted">What a file brought before stays until the file can be read again, or is removed.</p>
        </DialogPart>
      )}
      <DialogPart title="Files" aside={String(files.length)}>
        <ul aria-label="Files of the manifests">
          {files.map(({ file, objects }) => (
            <li key={file}>
              <span className="name">{file}</span> <span className="muted">{objects === 0 ? "nothing read" : countText(objects, "object")}</span>
            </li>
          ))}
        </ul>
        {files.length === 0 && <p>No file that ends in .yaml, .yml or .json is there.</p>}
        <p className="proof break-words">{folder}</p>
      </DialogPart>
      {kept.length > 0 && (
        <DialogPart title="Kept, not acted on" aside={kept.reduce((sum, { objects }) => sum + objects, 0)}>
          <ul aria-label="Kinds that are only kept">
            {kept.map(({ apiVersion, kind, objects }) => (
              <li key={`${apiVersion} ${kind}`}>
                <span className="name">{kind}</span>{" "}
                <span className="muted">
                  {apiVersion} · {countText(objects, "object")}
                </span>
              </li>
            ))}
          </ul>
          <p className="muted">The API lists them as they came. This node does nothing for them.</p>
        </DialogPart>
      )}
    </>
  );
}
