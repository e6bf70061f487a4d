import { Ago } from "@/components/ui/time";

export interface ShownEvent {
  readonly about: string;
  readonly reason: string;
  readonly message: string;
  readonly warning: boolean;
  readonly from: string;
  readonly count: number;
  /** 0 where the event carries no time. */
  readonly lastSeenMs: number;
}

/** What the cluster said, word for word. */
export function EventList({ events }: { events: readonly ShownEvent[] }) {
  if (events.length === 0) return <p className="body">No events are kept. A cluster forgets them, usually after an hour.</p>;
  return (
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
  );
}
