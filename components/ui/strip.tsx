import type { ReactNode } from "react";
import { Icon, type IconName } from "@/components/ui/icon";

interface StripProps {
  look: "b-stale" | "b-rec" | "b-sim";
  icon: IconName;
  /** Announced when it appears. */
  live?: boolean;
  children: ReactNode;
}

/** A banner, as wide as the content. */
export function Strip({ look, icon, live = false, children }: StripProps) {
  return (
    <div className={`banner ${look}`} role={live ? "status" : "note"}>
      <Icon name={icon} />
      {children}
    </div>
  );
}
