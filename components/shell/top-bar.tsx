"use client";

import { Breadcrumb } from "@/components/shell/breadcrumb";
import { LiveLight } from "@/components/shell/live-light";
import { ThemeToggle } from "@/components/shell/theme-toggle";
import { IconButton } from "@/components/ui/button";

export function TopBar({ onMenu }: { onMenu: () => void }) {
  return (
    <header className="top">
      <IconButton className="menu-btn" label="Menu" icon="menu" onClick={onMenu} />
      <Breadcrumb />
      <LiveLight />
      <ThemeToggle />
    </header>
  );
}
