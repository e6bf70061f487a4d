/** The cluster that suites may write to or break: named by VOLDECK_TEST_KUBECONFIG only, and marked as such inside. */
import { AppError, isAppError, messageOf } from "@/lib/errors";
import { httpStatusOf } from "@/server/cluster/api-error";
import { createApiClient, type ApiClient } from "@/server/cluster/client";
import { openConnection } from "@/server/cluster/connection";
import { loadContexts } from "@/server/cluster/kubeconfig";

const marker = "/api/v1/namespaces/default/configmaps/voldeck-test-cluster";

/** The exit code of a suite that found no test cluster. */
export const refused = 2;

/** The path of the test cluster's kubeconfig; undefined, after a sentence on standard error, where there is none that may be written to. */
export async function testKubeconfig(env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  try {
    await (await openTestCluster(env)).close();
    return env["VOLDECK_TEST_KUBECONFIG"];
  } catch (error) {
    if (!isAppError(error)) throw error;
    console.error(error.message);
    return undefined;
  }
}

/** Throws AppError `precondition` when the variable is not set, or names a cluster without ConfigMap default/voldeck-test-cluster. */
export async function openTestCluster(env: Readonly<Record<string, string | undefined>>): Promise<ApiClient> {
  const path = env["VOLDECK_TEST_KUBECONFIG"] ?? "";
  if (path === "") throw new AppError("precondition", "VOLDECK_TEST_KUBECONFIG is not set: it names the kubeconfig of a test cluster");
  const contexts = loadContexts({ paths: [path], env: {} });
  const context = contexts?.contexts.find(({ slug }) => slug === contexts.current) ?? contexts?.contexts[0];
  if (!context) throw new AppError("precondition", `VOLDECK_TEST_KUBECONFIG: ${path} names no cluster`);
  const client = createApiClient(openConnection(context));
  try {
    await client.get(marker);
    return client;
  } catch (error) {
    await client.close();
    const why = httpStatusOf(error) === 404 ? "has no ConfigMap default/voldeck-test-cluster, so it is not taken for a test cluster" : messageOf(error);
    throw new AppError("precondition", `VOLDECK_TEST_KUBECONFIG: ${context.server} ${why}`, { cause: error });
  }
}
