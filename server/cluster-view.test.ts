import { describe, expect, it } from "vitest";
import { objectPath } from "@/server/cluster-view";

const claim = { group: "", version: "v1", resource: "persistentvolumeclaims", namespace: "shop", name: "data" };

describe("objectPath", () => {
  it.each([
    [claim, "/api/v1/namespaces/shop/persistentvolumeclaims/data"],
    [{ group: "storage.k8s.io", version: "v1", resource: "storageclasses", name: "a:b c" }, "/apis/storage.k8s.io/v1/storageclasses/a%3Ab%20c"],
  ])("%j", (id, path) => {
    expect(objectPath(id)).toBe(path);
  });

  // Names of other objects come out of objects of the cluster, and are as hostile as these.
  it.each(["..", ".", "a/../../secrets/b", "%2e%2e", "\ud800", ""])("refuses %j as a name or namespace", (text) => {
    expect(() => objectPath({ ...claim, name: text })).toThrow("can't be part of a path");
    expect(() => objectPath({ ...claim, namespace: text })).toThrow("can't be part of a path");
  });
});
