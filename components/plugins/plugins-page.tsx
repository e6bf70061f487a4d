"use client";

import { PageHead } from "@/components/shell/page-head";
import { Empty } from "@/components/shell/states";

export function PluginsPage() {
  return (
    <>
      <PageHead title="Plugins" question="Which plugins does each host have?" />
      <Empty icon="plugins" title="No host has published its plugins yet">
        <p>The plugins of a node appear here as soon as its plugin manager has started.</p>
      </Empty>
    </>
  );
}
