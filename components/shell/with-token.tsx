"use client";

import type { ReactNode } from "react";
import { ShellSkeleton } from "@/components/shell/skeleton";
import { TokenPrompt } from "@/components/shell/token-prompt";
import { useToken } from "@/components/shell/token";
import { ApiProvider } from "@/components/trpc";

/** Everything below may ask the server. Without a token there is only the page that asks for one. */
export function WithToken({ children }: { children: ReactNode }) {
  const token = useToken();
  if (token === "pending") return <ShellSkeleton />;
  if (token === undefined) return <TokenPrompt />;
  return (
    <ApiProvider key={token} token={token}>
      {children}
    </ApiProvider>
  );
}
