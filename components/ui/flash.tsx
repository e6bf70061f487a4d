"use client";

import { useState, type ReactNode } from "react";

/** Flashes once when its value is another than before; never when it first appears. */
export function Flash({ value, children }: { value: string; children: ReactNode }) {
  const [seen, setSeen] = useState(value);
  const [changes, setChanges] = useState(0);
  if (seen !== value) {
    setSeen(value);
    setChanges(changes + 1);
  }
  return (
    <span key={changes} className={changes > 0 ? "flash" : undefined}>
      {children}
    </span>
  );
}
