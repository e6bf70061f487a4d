import type { ReactNode } from "react";
import { Frame } from "@/components/shell/frame";

export default async function ClusterLayout({ params, children }: { params: Promise<{ cluster: string }>; children: ReactNode }) {
  return <Frame cluster={(await params).cluster}>{children}</Frame>;
}
