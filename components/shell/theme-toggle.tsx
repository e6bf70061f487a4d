"use client";

import { IconButton } from "@/components/ui/button";
import { themeKey } from "@/components/shell/theme-script";

function toggle(): void {
  const dark = document.documentElement.classList.toggle("dark");
  localStorage.setItem(themeKey, dark ? "dark" : "light");
}

export function ThemeToggle() {
  return <IconButton label="Dark or light" icon="sun" onClick={toggle} />;
}
