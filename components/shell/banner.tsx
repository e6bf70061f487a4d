"use client";

import { useCluster } from "@/components/shell/status-context";
import { Icon, type IconName } from "@/components/ui/icon";
import { ClockTime } from "@/components/ui/time";

/** One at a time, above the page's own head, not closable while true. */
export function Banner() {
  const { status, retry } = useCluster();
  if (!status) return null;
  const { light, summary } = status;
  if (light.state === "stale") {
    return (
      <Strip look="b-stale" icon="clock" live>
        <p className="min-w-0 flex-1">
          <b>Stale{light.sinceMs !== undefined && <> since <ClockTime at={light.sinceMs} /></>}.</b>{" "}
          {light.kinds.join(", ")}: {light.reason ?? "the server does not answer"}. What you see of them is the state of then.
        </p>
        <button type="button" className="underline" onClick={retry}>
          Look again
        </button>
      </Strip>
    );
  }
  if (summary.mode === "bundle") {
    return (
      <Strip look="b-rec" icon="bundle">
        <p className="min-w-0 flex-1">
          <b>Recorded.</b> {summary.name}, read-only. Nothing here can be changed.
        </p>
      </Strip>
    );
  }
  if (summary.simulated) {
    return (
      <Strip look="b-sim" icon="flask">
        <p className="min-w-0 flex-1">
          <b>Simulated.</b> This node is a memory host: nothing is mounted and no driver is called.
        </p>
      </Strip>
    );
  }
  return null;
}

function Strip({ look, icon, live = false, children }: { look: string; icon: IconName; live?: boolean; children: React.ReactNode }) {
  return (
    <div className={`banner ${look}`} role={live ? "status" : "note"}>
      <Icon name={icon} />
      {children}
    </div>
  );
}
