import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { objectAt, textAt } from "./access";
import { checkManifestFolder, parseManifest } from "./manifest-files";

const claim = (name: string): string => `apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: ${name}, namespace: shop }
spec:
  accessModes: [ReadWriteOnce]
  resources: { requests: { storage: 1Gi } }
`;
const map = (name: string, data: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\ndata: ${data}\n`;

describe("parseManifest", () => {
  it("reads several documents and lists, each object with its line", () => {
    const text = `# shop\n${map("a", "{}")}---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: { name: b }\n---\n`;
    const { objects, errors } = parseManifest("shop.yaml", text);
    expect(errors).toEqual([]);
    expect(objects.map(({ line, object }) => [line, textAt(objectAt(object, "metadata"), "name")])).toEqual([
      [2, "a"],
      [10, "b"],
    ]);
  });

  it("reads JSON", () => {
    expect(parseManifest("a.json", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}').objects).toHaveLength(1);
  });

  it("reads JSON objects one after the other", () => {
    const one = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } });
    expect(parseManifest("a.json", `${one}\n${one}`).objects.map(({ line }) => line)).toEqual([1, 2]);
  });

  it.each([
    ["a: [1", 1],
    ["apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  name: b\n", 5],
    ["apiVersion: v1\nmetadata: {}\n", 1],
  ])("says where %j is wrong", (text, line) => {
    const { objects, errors } = parseManifest("a.yaml", text);
    expect(objects).toEqual([]);
    expect(errors[0]?.line).toBe(line);
  });

  it("finds the line of a field", () => {
    const { objects } = parseManifest("a.yaml", claim("data"));
    expect(objects[0]?.lineOf("spec.accessModes")).toBe(5);
    expect(objects[0]?.lineOf("spec.resources.requests.storage")).toBe(6);
  });
});

describe("checkManifestFolder", () => {
  it.each([
    ["/nonexistent/manifests", "the manifests folder /nonexistent/manifests is not there"],
    ["/proc/self/status", "the manifests folder /proc/self/status is not a folder"],
  ])("%s", async (folder, message) => {
    await expect(checkManifestFolder(folder)).rejects.toMatchObject({ code: "precondition", message });
  });

  it("takes a folder", async () => {
    await expect(checkManifestFolder(tmpdir())).resolves.toBeUndefined();
  });
});
