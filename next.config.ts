import type { NextConfig } from "next";

const config: NextConfig = {
  poweredByHeader: false,
  agentRules: false,
  serverExternalPackages: ["@kubernetes/client-node", "undici", "ws"],
  devIndicators: false,
};

export default config;
