/** Plain HTTPS requests to an API server, as a kubeconfig says how to reach it. */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { parse } from "yaml";

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent as it is; anything else as JSON. */
  readonly body?: unknown;
}

export interface Received {
  readonly code: number;
  readonly contentType: string;
  readonly warning: string;
  readonly retryAfter: string;
  readonly text: string;
}

interface KubeConfig {
  readonly "current-context": string;
  readonly contexts: readonly { readonly name: string; readonly context: { readonly cluster: string; readonly user: string } }[];
  readonly clusters: readonly { readonly name: string; readonly cluster: Readonly<Record<string, string>> }[];
  readonly users: readonly { readonly name: string; readonly user: Readonly<Record<string, string>> }[];
}

export class ApiClient {
  private readonly agent: Agent;
  private readonly url: string;
  private readonly token: string;

  constructor(kubeconfigPath: string) {
    const config = parse(readFileSync(kubeconfigPath, "utf8")) as KubeConfig;
    const context = config.contexts.find(({ name }) => name === config["current-context"])?.context;
    const cluster = config.clusters.find(({ name }) => name === context?.cluster)?.cluster ?? {};
    const user = config.users.find(({ name }) => name === context?.user)?.user ?? {};
    this.url = cluster["server"] ?? "";
    this.token = user["token"] ?? "";
    const [ca, cert, key] = [
      material(cluster, "certificate-authority"),
      material(user, "client-certificate"),
      material(user, "client-key"),
    ];
    this.agent = new Agent({ keepAlive: true, ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) });
  }

  send({ method, path, headers = {}, body }: Sent): Promise<Received> {
    const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
    const all: Record<string, string> = {
      accept: "application/json",
      ...(text === undefined ? {} : { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) }),
      ...(this.token === "" ? {} : { authorization: `Bearer ${this.token}` }),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      // The path as it is: a URL would take `..` out of it.
      const { protocol, hostname, port } = new URL(this.url);
      const sent = request({ protocol, hostname: hostname.replace(/^\[|\]$/gu, ""), port, path, method, headers: all, agent: this.agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const one = (name: string): string => [response.headers[name] ?? ""].flat().join(", ");
          resolve({
            code: response.statusCode ?? 0,
            contentType: one("content-type"),
            warning: one("warning"),
            retryAfter: one("retry-after"),
            text: Buffer.concat(chunks).toString("utf8"),
          });
        });
      });
      sent.on("error", reject);
      sent.end(text);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

function material(entry: Readonly<Record<string, string>>, name: string): string | undefined {
  const data = entry[`${name}-data`];
  if (data !== undefined) return Buffer.from(data, "base64").toString("utf8");
  const file = entry[name];
  return file === undefined ? undefined : readFileSync(file, "utf8");
}
