import type { NextConfig } from "next";

const config: NextConfig = {
  poweredByHeader: false,
  agentRules: false,
  serverExternalPackages: ["@kubernetes/client-node", "undici", "ws"],
  devIndicators: false,
  // `npm run types` checks everything, tests included; a start need not do it again.
  typescript: { ignoreBuildErrors: true },
};

export default config;
