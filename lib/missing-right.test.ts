import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { missingToRead, rightInWords, rightsInWords, ruleFor } from "./missing-right";

describe("rightsInWords", () => {
  it("names resources with the same verbs together", () => {
    const patch = { group: "", resource: "pods/resize", verbs: ["patch"], namespace: "shop" };
    expect(rightsInWords([missingToRead("pods"), missingToRead("csinodes"), patch])).toBe(
      "get, list, watch on pods, csinodes.storage.k8s.io; patch on pods/resize in shop",
    );
  });
});

describe("a missing right", () => {
  it("is a cluster role for rights in the whole cluster", () => {
    expect(parse(ruleFor([missingToRead("pods"), missingToRead("csinodes")], "voldeck-read"))).toEqual({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "voldeck-read" },
      rules: [
        { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
        { apiGroups: ["storage.k8s.io"], resources: ["csinodes"], verbs: ["get", "list", "watch"] },
      ],
    });
  });

  it("is a role where it belongs to a namespace", () => {
    const right = { group: "", resource: "pods/resize", verbs: ["get", "patch"], namespace: "shop" };
    expect(parse(ruleFor([right], "voldeck-resize"))).toMatchObject({
      kind: "Role",
      metadata: { name: "voldeck-resize", namespace: "shop" },
      rules: [{ apiGroups: [""], resources: ["pods/resize"], verbs: ["get", "patch"] }],
    });
    expect(rightInWords(right)).toBe("get, patch pods/resize in shop");
  });
});
