/** Goldens `http`: requests to the real routes, one after the other. */
import type { Adapter, Answer, GoldenLine } from "@/e2e/goldens/adapter";
import { goldenContext, nowMs, toObjects } from "@/e2e/goldens/api-context";
import { reasons } from "@/e2e/goldens/unsupported";
import type { ServerContext } from "@/server/apiserver/context";
import { handleRequest } from "@/server/apiserver/handle";
import { splitRequestTarget } from "@/server/apiserver/request";

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

function send(context: ServerContext, { method, path, headers = {}, body }: Request): unknown {
  const asked = splitRequestTarget(path) ?? { path: "", query: new URLSearchParams() };
  const answer = handleRequest(context, {
    method,
    ...asked,
    headers: new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    body: Buffer.from(body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body), "utf8"),
  });
  const json = answer.contentType === "application/json";
  return {
    code: answer.code,
    contentType: answer.contentType,
    ...(answer.warnings.length > 0 ? { warnings: answer.warnings } : {}),
    ...(answer.retryAfter === undefined ? {} : { retryAfter: answer.retryAfter }),
    ...(json ? { body: masked(JSON.parse(answer.body)) } : { text: answer.body }),
  };
}

/** Fresh times are "NOW"; descriptions of columns are not compared. */
function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value === "string") return /^\d{4}-\d\d-\d\dT/u.test(value) && Date.parse(value) >= nowMs ? "NOW" : value;
  if (typeof value !== "object" || value === null) return value;
  const isColumn = "name" in value && "priority" in value && "format" in value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !(isColumn && key === "description")).map(([key, item]) => [key, masked(item)]));
}

function asksWhichKinds({ in: input }: GoldenLine): boolean {
  const requests: Request[] = Array.isArray(input["requests"]) ? input["requests"] : [];
  return requests.some(({ path }) => /^\/apis\/[^/]+\/[^/]+$/u.test(path));
}

export const adapter: Adapter = {
  unsupported: (line) => (asksWhichKinds(line) ? reasons.discovery : undefined),
  answer({ in: input }: GoldenLine): Promise<Answer> {
    const all = toObjects(input["objects"]);
    const isNode = (object: (typeof all)[number]): boolean => object["kind"] === "Node";
    const context = goldenContext({ objects: all.filter((object) => !isNode(object)), nodes: all.filter(isNode), gates: input["gates"] });
    const requests: Request[] = Array.isArray(input["requests"]) ? input["requests"] : [];
    try {
      return Promise.resolve({ out: requests.map((request) => send(context, request)) });
    } finally {
      context.store.close();
    }
  },
};
