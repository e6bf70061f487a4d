import { Section } from "@/components/ui/section";
import { Ago } from "@/components/ui/time";
import type { VolumeDetail } from "@/components/volumes/detail-types";

/** What the cluster said about pod, claim and persistent volume, word for word. */
export function VolumeEvents({ detail: { events } }: { detail: VolumeDetail }) {
  return (
    <Section title="Events" aside="pod, claim and PV, newest first">
      {events.length === 0 ? (
        <p className="body">No events are kept. A cluster forgets them, usually after an hour.</p>
      ) : (
        <ol className="events">
          {events.map((event, index) => (
            <li key={index}>
              <span className="muted text-xs">
                <Ago at={event.lastSeenMs === 0 ? undefined : event.lastSeenMs} bare />
              </span>
              <span className="min-w-0">
                <b className={event.warning ? "text-stuck-fg" : undefined}>{event.reason}</b>{" "}
                <span className="muted text-xs">
                  {event.about} · {event.from}
                  {event.count > 1 && ` · ${event.count} times`}
                </span>
                <span className="proof block">{event.message}</span>
              </span>
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}
