import type { Metadata } from "next";
import { NodePage } from "@/components/nodes/node-page";

interface Props {
  params: Promise<{ name: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: decodeURIComponent((await params).name) };
}

export default async function Page({ params }: Props) {
  return <NodePage name={decodeURIComponent((await params).name)} />;
}
