/** One pool of connections per cluster and identity; made anew only when the TLS material of the identity changes. */
import { createHash } from "node:crypto";
import { Agent, ProxyAgent, type Dispatcher } from "undici";
import { AppError } from "@/lib/errors";
import { credentialsOf, type ClusterContext, type Credentials, type TlsSettings } from "@/server/cluster/kubeconfig";

export interface Authorized {
  readonly origin: string;
  /** Of the server's address, without a slash at the end: clusters may live below a path. */
  readonly basePath: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
}

export interface Connection {
  /** Credentials as they are now, and the shared dispatcher. Throws AppError `forbidden` when there are none to be had. */
  authorize(): Promise<Authorized>;
  close(): Promise<void>;
}

/** Throws AppError `invalid` for a server address that is no http(s) URL. */
export function openConnection(context: ClusterContext): Connection {
  const url = serverUrl(context);
  return new PooledConnection(context, url, credentialsOf(context));
}

function serverUrl(context: ClusterContext): URL {
  const url = URL.parse(context.server);
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new AppError("invalid", `context ${context.name}: server: ${JSON.stringify(context.server)} is no http or https address`);
  }
  return url;
}

class PooledConnection implements Connection {
  private pool: { readonly fingerprint: string; readonly dispatcher: Dispatcher } | undefined;
  private closed = false;

  constructor(
    private readonly context: ClusterContext,
    private readonly url: URL,
    private readonly credentials: () => Promise<Credentials>,
  ) {}

  async authorize(): Promise<Authorized> {
    const { headers, tls } = await this.credentials();
    if (this.closed) throw new AppError("transient", "the cluster was closed");
    return {
      origin: this.url.origin,
      basePath: this.url.pathname.replace(/\/+$/, ""),
      headers,
      dispatcher: this.dispatcherFor(tls),
    };
  }

  async close(): Promise<void> {
    this.closed = true;
    const pool = this.pool;
    this.pool = undefined;
    await pool?.dispatcher.destroy();
  }

  private dispatcherFor(tls: TlsSettings): Dispatcher {
    const fingerprint = fingerprintOf(tls);
    if (this.pool?.fingerprint === fingerprint) return this.pool.dispatcher;
    // The old pool's watches end by themselves within minutes; close() waits for them and takes no new request.
    void this.pool?.dispatcher.close();
    this.pool = { fingerprint, dispatcher: newDispatcher(this.context, tls) };
    return this.pool.dispatcher;
  }
}

/** Watches need a body without a time limit; reflectors notice silence themselves. HTTP/1.1: one connection per watch. */
function newDispatcher(context: ClusterContext, tls: TlsSettings): Dispatcher {
  const connect = { ...tls, timeout: 10_000, keepAlive: true, keepAliveInitialDelay: 30_000 };
  const limits = { bodyTimeout: 0, headersTimeout: 30_000, allowH2: false, connect };
  const proxy = context.cluster.proxyUrl;
  if (proxy === undefined || proxy === "") return new Agent(limits);
  if (!/^https?:/.test(proxy)) throw new AppError("unsupported", `context ${context.name}: proxy-url: only http and https proxies are supported`);
  return new ProxyAgent({ ...limits, uri: proxy, requestTls: connect });
}

function fingerprintOf(tls: TlsSettings): string {
  const hash = createHash("sha256");
  for (const part of [tls.ca, tls.cert, tls.key]) hash.update(part ?? "").update("\0");
  return hash.update(JSON.stringify([tls.rejectUnauthorized, tls.servername])).digest("hex");
}
