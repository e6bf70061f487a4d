import type { Metadata } from "next";
import { PluginPage } from "@/components/plugins/plugin-page";
import { decodedPart, pluginOfSegment } from "@/components/shell/paths";

interface Props {
  params: Promise<{ plugin: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: await nameOf(params) };
}

export default async function Page({ params }: Props) {
  return <PluginPage name={await nameOf(params)} />;
}

async function nameOf(params: Props["params"]): Promise<string> {
  return pluginOfSegment(decodedPart((await params).plugin));
}
