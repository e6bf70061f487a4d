import { readFileSync } from "node:fs";
import type { NextConfig } from "next";

const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as { version: string };

const config: NextConfig = {
  poweredByHeader: false,
  agentRules: false,
  serverExternalPackages: ["@kubernetes/client-node", "undici", "ws"],
  devIndicators: false,
  // No image is ever made smaller: the endpoint that would is not served.
  images: { unoptimized: true },
  // Written into the browser's code by the build.
  env: { VOLDECK_VERSION: version },
  // `npm run types` checks everything, tests included; a start need not do it again.
  typescript: { ignoreBuildErrors: true },
};

export default config;
