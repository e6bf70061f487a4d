import { describe, expect, it } from "vitest";
import { crumbsOf } from "./crumbs";

describe("crumbsOf", () => {
  const cluster = { id: "testbed-1a2b3c", name: "testbed" };
  it.each([
    ["a list", "/c/testbed-1a2b3c/volumes", ["testbed", "Volumes"]],
    ["a volume", "/c/testbed-1a2b3c/volumes/shop/web-0/data", ["testbed", "Volumes", "shop", "web-0", "data"]],
    ["an operation, by the beginning of its id", "/c/testbed-1a2b3c/operations/9400ace9-5dbd-4c41-99d8-880971834461", ["testbed", "Operations", "9400ace9"]],
    ["an address that does not decode", "/c/testbed-1a2b3c/nodes/%E0%A4%A", ["testbed", "Nodes", "%E0%A4%A"]],
    ["a plugin with a slash in its name", "/c/testbed-1a2b3c/plugins/kubernetes.io~empty-dir", ["testbed", "Plugins", "kubernetes.io/empty-dir"]],
  ])("%s", (_name, pathname, texts) => {
    const crumbs = crumbsOf(pathname, cluster);
    expect(crumbs.map((crumb) => crumb.text)).toEqual(texts);
    expect(crumbs.map((crumb) => crumb.href !== undefined)).toEqual(texts.map((_, index) => index < texts.length - 1));
  });

  it("leads from a pod to its volumes", () => {
    const [, , , pod] = crumbsOf("/c/x/volumes/shop/web-0/data", { id: "x", name: "x" });
    expect(pod?.href).toBe("/c/x/volumes?q=namespace%3Ashop%20pod%3Aweb-0");
  });
});
