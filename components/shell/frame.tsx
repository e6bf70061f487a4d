"use client";

import { useState, type ReactNode } from "react";
import { Banner } from "@/components/shell/banner";
import { KnownCluster } from "@/components/shell/known-cluster";
import { Rail } from "@/components/shell/rail";
import { RailSheet } from "@/components/shell/rail-sheet";
import { ClusterStatusProvider } from "@/components/shell/status-context";
import { TopBar } from "@/components/shell/top-bar";
import { WithToken } from "@/components/shell/with-token";

/** The frame around every page of one cluster: rail, top bar, banner. */
export function Frame({ cluster, children }: { cluster: string; children: ReactNode }) {
  const [folded, setFolded] = useState(false);
  const [sheetOpen, setSheetOpen] = useState(false);
  return (
    <WithToken>
      <ClusterStatusProvider cluster={cluster}>
        <a className="skip" href="#main">
          Skip to the page
        </a>
        <div className={`app ${folded ? "app-folded" : ""}`}>
          <aside className="rail" aria-label="Voldeck">
            <Rail folded={folded} onFold={() => setFolded(!folded)} />
          </aside>
          <div className="min-w-0">
            <TopBar onMenu={() => setSheetOpen(true)} />
            <main id="main" tabIndex={-1}>
              <Banner />
              <KnownCluster>{children}</KnownCluster>
            </main>
          </div>
        </div>
        <RailSheet open={sheetOpen} onClose={() => setSheetOpen(false)} />
      </ClusterStatusProvider>
    </WithToken>
  );
}
