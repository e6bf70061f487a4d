import type { Adapter } from "@/e2e/goldens/adapter";
import { isDNS1123Label, isDNS1123Subdomain, isQualifiedName } from "@/lib/names";

export const adapter: Adapter = {
  async answer(line) {
    const value = String(line.in["value"]);
    return {
      out: {
        IsQualifiedName: isQualifiedName(value),
        IsDNS1123Label: isDNS1123Label(value),
        IsDNS1123Subdomain: isDNS1123Subdomain(value),
      },
    };
  },
};
