import type { Metadata } from "next";
import { PluginsPage } from "@/components/plugins/plugins-page";

export const metadata: Metadata = { title: "Plugins" };

export default function Page() {
  return <PluginsPage />;
}
