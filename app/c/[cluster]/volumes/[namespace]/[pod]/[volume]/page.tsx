import type { Metadata } from "next";
import { VolumePage, type VolumeAddress } from "@/components/volumes/volume-page";
import { decodedPart } from "@/components/shell/paths";

interface Props {
  params: Promise<{ namespace: string; pod: string; volume: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { pod, volume } = await addressOf(params);
  return { title: `${pod} / ${volume}` };
}

export default async function Page({ params }: Props) {
  return <VolumePage address={await addressOf(params)} />;
}

async function addressOf(params: Props["params"]): Promise<VolumeAddress> {
  const { namespace, pod, volume } = await params;
  return { namespace: decodedPart(namespace), pod: decodedPart(pod), volume: decodedPart(volume) };
}
