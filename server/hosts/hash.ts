import { createHash } from "node:crypto";
import type { Hash } from "@/server/volume/ports";

export const nodeHash: Hash = {
  sha256Hex: (text) => createHash("sha256").update(text, "utf8").digest("hex"),
};
