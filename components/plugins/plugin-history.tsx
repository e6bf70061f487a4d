import type { PluginDetail } from "@/components/plugins/plugin-page";
import { Section } from "@/components/ui/section";
import { Status } from "@/components/ui/status";
import { ClockTime } from "@/components/ui/time";

/** How it came to be: each start of a manager with it, and what the probes said of it. */
export function PluginHistory({ detail: { inits, events } }: { detail: PluginDetail }) {
  const rows = [
    ...inits.map((init, index) => ({
      key: `init ${index}`,
      atMs: init.atMs,
      nodeName: init.nodeName,
      what: <Status word={init.error === undefined ? "ok" : "failed"} text={init.error === undefined ? "registered" : "init failed"} />,
      text: init.error ?? "",
    })),
    ...events.map((event) => ({
      key: event.key,
      atMs: event.atMs,
      nodeName: event.nodeName,
      what: <Status word={event.outcome === "failed" ? "failed" : "ok"} text={event.count > 1 ? `${event.outcome}, ${event.count} times` : event.outcome} />,
      text: event.text,
    })),
  ].sort((a, b) => b.atMs - a.atMs);
  return (
    <Section title="History" aside="newest first">
      {rows.length === 0 ? (
        <p className="body">Nothing is recorded of it on the nodes that can be seen from here.</p>
      ) : (
        <ol className="events">
          {rows.map((row) => (
            <li key={row.key} className="history">
              <span className="muted text-xs">
                <ClockTime at={row.atMs} />
              </span>
              <span className="min-w-0">
                {row.what} <span className="muted text-xs">{row.nodeName}</span>
                {row.text !== "" && <span className="proof block">{row.text}</span>}
              </span>
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}
