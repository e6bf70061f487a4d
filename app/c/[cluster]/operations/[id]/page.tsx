import type { Metadata } from "next";
import { OperationPage } from "@/components/operations/operation-page";
import { decodedPart } from "@/components/shell/paths";

export const metadata: Metadata = { title: "Operation" };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  return <OperationPage id={decodedPart((await params).id)} />;
}
