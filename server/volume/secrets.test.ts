import { describe, expect, it } from "vitest";
import { AppError } from "@/lib/errors";
import type { Secret } from "@/lib/kube/pods";
import { MemoryKubeClient } from "@/server/hosts/memory";
import { loadPodFromFile } from "@/server/volume/pod-file";
import { FileError } from "@/server/volume/ports";
import { getSecretForPV } from "@/server/volume/secrets";

describe("getSecretForPV", () => {
  const secret: Secret = { metadata: { name: "s", namespace: "ns" }, type: "vendor/driver", data: { k: "dg==", __proto__x: "" } };
  const client = new MemoryKubeClient({ secrets: [secret] });
  const at = { namespace: "ns", name: "s" };

  it("gives the bytes of a secret whose type is the plugin's name", async () => {
    expect([...(await getSecretForPV(at, "vendor/driver", client))]).toEqual([
      ["k", Uint8Array.from([0x76])],
      ["__proto__x", new Uint8Array()],
    ]);
  });
  it("refuses any other secret, a missing one and a missing client", async () => {
    await expect(getSecretForPV(at, "vendor/other", client)).rejects.toThrow("cannot get secret of type vendor/other");
    await expect(getSecretForPV({ ...at, name: "t" }, "vendor/driver", client)).rejects.toThrow('secrets "t" not found');
    await expect(getSecretForPV(at, "vendor/driver", undefined)).rejects.toThrow("cannot get kube client");
  });
});

describe("loadPodFromFile", () => {
  const pod = { metadata: { name: "p" }, spec: { containers: [] } };
  const load = (path: string, text?: string, decode = () => pod): Promise<unknown> => {
    const missing = (): never => {
      throw new FileError("ENOENT", `open ${path}: no such file or directory`, path);
    };
    return loadPodFromFile(path, { readText: async () => text ?? missing() }, decode);
  };

  it("gives what the codec makes of the file", async () => {
    expect(await load("/pod.yaml", "kind: Pod")).toBe(pod);
  });
  it("says what is wrong with the file", async () => {
    await expect(load("")).rejects.toThrow("file path not specified");
    await expect(load("/x")).rejects.toThrow("failed to read file path /x: open /x: no such file or directory");
    await expect(load("/x", "")).rejects.toThrow("file was empty: /x");
    const refuse = (): never => {
      throw new AppError("invalid", "not a pod");
    };
    await expect(load("/x", "{}", refuse)).rejects.toThrow("failed decoding file: not a pod");
  });
});
