import type { Metadata } from "next";
import { NodePage } from "@/components/nodes/node-page";
import { decodedPart } from "@/components/shell/paths";

interface Props {
  params: Promise<{ name: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: decodedPart((await params).name) };
}

export default async function Page({ params }: Props) {
  return <NodePage name={decodedPart((await params).name)} />;
}
