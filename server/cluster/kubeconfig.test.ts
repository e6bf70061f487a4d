import { mkdirSync, mkdtempSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { clusterSlug, credentialsOf, loadContexts } from "@/server/cluster/kubeconfig";

function kubeconfig(entry: { context: string; server: string; user?: string; current?: boolean }): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: entry.server, "insecure-skip-tls-verify": true, "tls-server-name": "api.example" } }],
    users: [{ name: "u", user: { token: "secret-token" } }],
    contexts: [
      { name: entry.context, context: { cluster: "c", user: entry.user ?? "u", namespace: "shop" } },
      { name: "dangling", context: { cluster: "nowhere", user: "u" } },
    ],
    ...(entry.current === false ? {} : { "current-context": entry.context }),
  });
}

const made: { dir: string; files: readonly string[] }[] = [];

afterAll(() => {
  for (const { dir, files } of made) {
    files.forEach((name) => unlinkSync(join(dir, name)));
    rmdirSync(join(dir, ".kube"));
    rmdirSync(dir);
  }
});

function folder(files: Readonly<Record<string, string>>): string {
  const dir = mkdtempSync(join(tmpdir(), "voldeck-kubeconfig-"));
  mkdirSync(join(dir, ".kube"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  made.push({ dir, files: Object.keys(files) });
  return dir;
}

describe("loadContexts", () => {
  const one = kubeconfig({ context: "one", server: "https://1" });
  const two = kubeconfig({ context: "two", server: "https://2" });
  const dir = folder({ one, two, broken: "{ no: [yaml", ".kube/config": two });

  it.each([
    { name: "named files before everything", sources: { paths: [join(dir, "one")], env: { KUBECONFIG: join(dir, "two"), HOME: dir } }, contexts: ["one"], flags: ["--kubeconfig", join(dir, "one"), "--context", "one"] },
    { name: "KUBECONFIG before the home folder", sources: { env: { KUBECONFIG: join(dir, "one"), HOME: dir } }, contexts: ["one"], flags: ["--context", "one"] },
    {
      name: "several files, the first to name a thing winning, a missing one skipped",
      sources: { env: { KUBECONFIG: ["/missing", join(dir, "one"), join(dir, "two")].join(delimiter) } },
      contexts: ["one", "two"],
      servers: ["https://1", "https://1"],
    },
    { name: "the home folder", sources: { env: { HOME: dir } }, contexts: ["two"] },
  ])("reads $name", ({ sources, contexts, servers, flags }) => {
    const list = loadContexts(sources);
    expect(list?.contexts.map((context) => context.name)).toEqual(contexts);
    expect(list?.current).toBe(list?.contexts[0]?.slug);
    if (flags) expect(list?.contexts[0]?.kubectlFlags).toEqual(flags);
    if (servers) expect(list?.contexts.map((context) => context.server)).toEqual(servers);
  });

  it("finds nothing where nothing is configured, and invents no localhost", () => {
    expect(loadContexts({ env: { HOME: "/nonexistent" } })).toBeUndefined();
  });

  const nothing = [
    { name: "an empty file", text: "" },
    { name: "a file with a comment", text: "# nothing yet\n" },
    { name: "no contexts", text: "apiVersion: v1\nkind: Config\nclusters: null\ncontexts: null\nusers: null\n" },
    { name: "a context of a cluster that is not there", text: "contexts: [{ name: x, context: { cluster: y, user: z } }]\n" },
  ];

  it.each(nothing)("takes $name in the home folder for no cluster", ({ text }) => {
    const home = folder({ ".kube/config": text });
    expect(loadContexts({ env: { HOME: home } })).toEqual({ contexts: [], current: undefined, from: join(home, ".kube/config") });
  });

  it.each(nothing)("refuses $name that was asked for", ({ text }) => {
    const file = join(folder({ config: text }), "config");
    const message = `kubeconfig ${file}: no context in it leads to a cluster`;
    expect(() => loadContexts({ paths: [file], env: {} })).toThrow(message);
    expect(() => loadContexts({ env: { KUBECONFIG: file } })).toThrow(message);
  });

  it("names the file that can't be read", () => {
    expect(() => loadContexts({ paths: [join(dir, "broken")], env: {} })).toThrow(`kubeconfig ${join(dir, "broken")}: `);
    expect(() => loadContexts({ env: { KUBECONFIG: "/missing" } })).toThrow("KUBECONFIG: no such file: /missing");
  });
});

describe("clusterSlug", () => {
  it.each([
    { context: "prod", slug: /^prod-[0-9a-f]{6}$/ },
    { context: "arn:aws:eks:eu-1:123:cluster/Shop_1", slug: /^arn-aws-eks-eu-1-123-cluster-shop-1-[0-9a-f]{6}$/ },
    { context: "::", slug: /^[0-9a-f]{6}$/ },
    { context: "x".repeat(200), slug: /^x{48}-[0-9a-f]{6}$/ },
  ])("of $context fits into a URL", ({ context, slug }) => {
    expect(clusterSlug(context, "https://a")).toMatch(slug);
  });

  it("differs by server", () => {
    expect(clusterSlug("prod", "https://a")).not.toBe(clusterSlug("prod", "https://b"));
  });
});

describe("credentialsOf", () => {
  const load = (server: string, user?: string) => {
    const dir = folder({ config: kubeconfig({ context: "x", server, ...(user ? { user } : {}) }) });
    const context = loadContexts({ paths: [join(dir, "config")], env: {} })?.contexts[0];
    if (!context) throw new Error("the context is missing");
    return credentialsOf(context)();
  };

  it("gives the token and the TLS settings over https", async () => {
    expect(await load("https://a")).toEqual({
      headers: { Authorization: "Bearer secret-token" },
      tls: { rejectUnauthorized: false, servername: "api.example" },
    });
  });

  it("sends nothing over plain http", async () => {
    expect(await load("http://a")).toEqual({ headers: {}, tls: {} });
  });

  it("keeps the TLS settings of a context without a user", async () => {
    expect(await load("https://a", "nobody")).toEqual({ headers: {}, tls: { rejectUnauthorized: false, servername: "api.example" } });
  });
});
