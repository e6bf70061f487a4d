import { Fragment } from "react";

const own = "kubernetes.io/";

/** A plugin's name; the prefix that nearly all share is set back. */
export function PluginName({ name }: { name: string }) {
  if (!name.startsWith(own)) return <span className="name">{name}</span>;
  return (
    <span className="mono" title={name}>
      <span className="muted pfx">{own}</span>
      <span className="text-fg">{name.slice(own.length)}</span>
    </span>
  );
}

const lengthMax = 22;
const headLength = 12;
const tailLength = 6;

/** Long names lose their middle, not their end; the whole name is on hover. */
export function ShortName({ name }: { name: string }) {
  if (name.length <= lengthMax) return <>{name}</>;
  return (
    <span title={name}>
      <span aria-hidden="true">
        {name.slice(0, headLength)}…{name.slice(-tailLength)}
      </span>
      <span className="vh">{name}</span>
    </span>
  );
}

/** A path that may break after each slash. */
export function PathText({ path }: { path: string }) {
  const parts = path.split("/");
  return (
    <>
      {parts.map((part, index) => (
        <Fragment key={index}>
          {part}
          {index < parts.length - 1 && (
            <>
              /<wbr />
            </>
          )}
        </Fragment>
      ))}
    </>
  );
}
