"use client";

import Link from "next/link";
import { paths } from "@/components/shell/paths";
import { useCluster } from "@/components/shell/status-context";
import type { Outputs } from "@/components/trpc";
import { Flash } from "@/components/ui/flash";
import { Status } from "@/components/ui/status";
import { ClockTime } from "@/components/ui/time";
import type { StatusWord } from "@/lib/words";

type ProbeEvent = Outputs["plugin"]["list"]["events"][number];

const words: Readonly<Record<ProbeEvent["outcome"], StatusWord>> = {
  loaded: "ok",
  updated: "ok",
  removed: "not applicable",
  failed: "failed",
  ignored: "unknown",
};

/** `heard`: some node here tells what its prober sees. What the probers said, as they say it: drivers that came, changed, broke or went. */
export function ProbeEvents({ events, heard }: { events: readonly ProbeEvent[]; heard: boolean }) {
  return (
    <section aria-label="Probe events">
      <div className="t-foot border-y border-line bg-sunken">
        <h2>Probe events</h2>
        <span>as they happen</span>
      </div>
      {events.length === 0 ? (
        <p className="px-5 py-3 text-fg-3">
          {heard ? "No driver has come, changed or gone since the plugin manager started." : "Not visible from here: only the node itself sees its drivers come and go."}
        </p>
      ) : (
        <ol className="ev" aria-live="polite">
          {events.map((event) => (
            <li key={event.key}>
              <ProbeLine event={event} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function ProbeLine({ event }: { event: ProbeEvent }) {
  const { cluster } = useCluster();
  return (
    <>
      <span className="muted">
        <ClockTime at={event.atMs} />
      </span>
      <span>{event.nodeName}</span>
      <span>{event.op}</span>
      <span>
        {event.pluginName === "" ? (
          <span className="muted">the whole probe</span>
        ) : (
          <Link className="name" href={paths.plugin(cluster, event.pluginName)} prefetch={false}>
            {event.pluginName}
          </Link>
        )}
      </span>
      <Flash value={`${event.count}`}>
        <Status word={words[event.outcome]} text={event.count > 1 ? `${event.outcome}, ${event.count} times` : event.outcome} />
        {event.text !== "" && <span className="proof ml-2">{event.text}</span>}
      </Flash>
    </>
  );
}
