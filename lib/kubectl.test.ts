import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { getCommand, kubectlWith, volumesCommand } from "./kubectl";

const kubectl = kubectlWith([]);

describe("every word of a command line", () => {
  it.each([
    ["a plain word", "web-0"],
    ["nothing", ""],
    ["blanks", "two words"],
    ["a quote", "it's"],
    ["what a shell would run", "$(id) `id` ; | & > < * ? ! #"],
    ["a new line", "a\nb"],
    ["a leading tilde", "~root"],
  ])("%s comes back from a shell as it was", (_name, word) => {
    const shell = `kubectl() { printf %s "$1"; }; ${kubectl(word)}`;
    expect(execFileSync("sh", ["-c", shell]).toString()).toBe(word);
  });
});

describe("command lines", () => {
  it("names the namespace only for kinds that have one", () => {
    expect(getCommand(kubectl, { resource: "pod", name: "web-0", namespace: "shop" })).toBe("kubectl get -n shop pod web-0 -o yaml");
    expect(getCommand(kubectl, { resource: "persistentvolume", name: "pvc-1" })).toBe("kubectl get persistentvolume pvc-1 -o yaml");
  });

  it("name the cluster before anything else, and quote its name", () => {
    expect(kubectlWith(["--context", "it's prod"])("get", "nodes")).toBe("kubectl --context 'it'\\''s prod' get nodes");
  });

  it("hands the template to kubectl in one word", () => {
    const words = execFileSync("sh", ["-c", `kubectl() { for w in "$@"; do printf '%s\\0' "$w"; done; }; ${volumesCommand(kubectl)}`]);
    expect(words.toString().split("\0").slice(0, -1)).toEqual(["get", "pods", "--all-namespaces", "-o", expect.stringContaining('{{"\\n"}}')]);
  });
});
