import type { Metadata } from "next";
import { ClaimPage, type ClaimAddress } from "@/components/claims/claim-page";
import { decodedPart } from "@/components/shell/paths";

interface Props {
  params: Promise<{ namespace: string; name: string }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: (await addressOf(params)).name };
}

export default async function Page({ params }: Props) {
  return <ClaimPage address={await addressOf(params)} />;
}

async function addressOf(params: Props["params"]): Promise<ClaimAddress> {
  const { namespace, name } = await params;
  return { namespace: decodedPart(namespace), name: decodedPart(name) };
}
