import { describe, expect, it } from "vitest";
import { ask, testContext } from "@/server/apiserver/test-context";

const token = { projected: { sources: [{ serviceAccountToken: { path: "token" } }] } };

function pod(spec: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): unknown {
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "p", ...metadata }, spec: { containers: [{ name: "c", image: "x" }], volumes: [{ name: "v", ...token }], ...spec } };
}

describe("a new pod", () => {
  it("that names no service account gets default, so that it may ask for its token", () => {
    const answer = ask(testContext(), "POST", "/api/v1/namespaces/default/pods", pod());
    expect(answer).toMatchObject({ code: 201, object: { spec: { serviceAccountName: "default", serviceAccount: "default" } } });
  });

  it("keeps the service account that it names", () => {
    const answer = ask(testContext(), "POST", "/api/v1/namespaces/default/pods", pod({ serviceAccountName: "own" }));
    expect(answer).toMatchObject({ code: 201, object: { spec: { serviceAccountName: "own", serviceAccount: "own" } } });
  });

  it("that mirrors a kubelet's own gets none", () => {
    const answer = ask(testContext(), "POST", "/api/v1/namespaces/default/pods", pod({}, { annotations: { "kubernetes.io/config.mirror": "x" } }));
    expect(answer).toMatchObject({ code: 422, object: { message: expect.stringContaining("must not be specified when serviceAccountName is not set") } });
  });
});
