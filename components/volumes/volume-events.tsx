import { EventList } from "@/components/ui/event-list";
import { Section } from "@/components/ui/section";
import type { VolumeDetail } from "@/components/volumes/detail-types";

export function VolumeEvents({ detail: { events } }: { detail: VolumeDetail }) {
  return (
    <Section title="Events" aside="pod, claim and PV, newest first">
      <EventList events={events} />
    </Section>
  );
}
