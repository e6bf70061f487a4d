/**
 * Composition root of the process: options, data folder, token, HTTP server and pages. What the server works on is put
 * together in app.ts.
 */
import { randomUUID } from "node:crypto";
import { networkInterfaces } from "node:os";
import type { AddressInfo } from "node:net";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { inspect } from "node:util";
import { withoutControls } from "@/lib/controls";
import { AppError, codeOf, isAppError } from "@/lib/errors";
import type { ApiContext } from "@/server/api/context";
import { appRouter, socketRouter } from "@/server/api/router";
import { createApp, type App } from "@/server/app";
import { openDataFolder, writeToken } from "@/server/data-folder";
import { createHttpServer } from "@/server/http/server";
import { createSocketServer, refuseSocket } from "@/server/http/socket";
import type { SecurityPolicy } from "@/server/http/security";
import { parseOptions, usage, type Options } from "@/server/options";
import { runReset } from "@/server/reset";

const stopWithinMs = 10_000;

/** `args` without the program's name; `project` is the folder that holds the built pages. */
export async function main(args: readonly string[], project: string): Promise<void> {
  if (args[0] === "reset") process.exit(await runReset(args.slice(1)));
  if (args.includes("--help")) {
    console.log(usage);
    return;
  }
  try {
    await serve(parseOptions(args, process.env), project);
  } catch (error) {
    console.error(isAppError(error) ? `voldeck: ${error.message}` : error);
    process.exit(1);
  }
}

async function serve(options: Options, project: string): Promise<void> {
  // Next reads it; what is not development is production, whatever the shell says.
  Object.assign(process.env, { NODE_ENV: options.development ? "development" : "production" });
  // One forgotten promise must not end a process that holds mounts and claims in flight; it is told, loudly.
  process.on("unhandledRejection", (error) => logError("a failure that nobody awaited", error));
  const folder = await openDataFolder(options.dataFolder, process.getuid?.() ?? 0);
  let app: App | undefined;
  const close = async () => {
    try {
      await app?.close();
    } finally {
      await folder.release();
    }
  };
  try {
    app = await createApp(options, project);
    await listenAndServe(options, project, { ...app, close });
  } catch (error) {
    await close();
    throw error;
  }
}

async function listenAndServe(options: Options, project: string, app: App): Promise<void> {
  let closing = false;
  let policy: SecurityPolicy = { hosts: new Set(), token: "" };
  const createContext = (): ApiContext => ({
    ...app.ports,
    person: { name: "holder of the token" },
    nowMs: Date.now,
    isClosing: () => closing,
    logInternal,
  });
  const pages = options.pages ? await openPages(options, project) : noPages;
  const sockets = createSocketServer({
    router: socketRouter,
    createContext,
    policy: () => policy,
    isClosing: () => closing,
    onError: logError,
  });
  const server = createHttpServer({
    router: appRouter,
    createContext,
    policy: () => policy,
    isReady: () => !closing && app.isReady(),
    pages: (request, response) => pages.handle(request, response),
    upgrade: (request, socket, head) => {
      if (sockets.upgrade(request, socket, head)) return;
      if (pages.upgrade) void pages.upgrade(request, socket, head);
      else refuseSocket(socket, 404, "Nothing is served here");
    },
    development: options.development,
    onError: logError,
  });
  const port = await listen(server, options);
  policy = { hosts: hostsOf(options.listen, port), token: await writeToken(options.dataFolder) };
  const stop = (signal: string) => {
    if (closing) return;
    closing = true;
    console.log(`Stopping (${signal}); mounts stay as they are`);
    setTimeout(() => process.exit(1), stopWithinMs).unref();
    sockets.close();
    server.close();
    server.closeIdleConnections();
    app.close().then(
      () => process.exit(0),
      (error: unknown) => {
        logError("stopping", error);
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", () => stop("SIGTERM"));
  process.on("SIGINT", () => stop("SIGINT"));
  console.log(`\nVoldeck is at ${urlOf(options.listen, port)}/#token=${policy.token}`);
  console.log(`Its data lies in ${options.dataFolder}`);
  await app.start();
}

interface Pages {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** For the development server's own socket. */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;
}

async function openPages(options: Options, project: string): Promise<Pages> {
  // Its load takes a while: a process without pages does not wait for it.
  const { default: next } = await import("next");
  const pages = next({ dev: options.development, dir: project, hostname: options.listen, port: options.port });
  await pages.prepare();
  const handle = pages.getRequestHandler();
  return options.development ? { handle, upgrade: pages.getUpgradeHandler() } : { handle };
}

const noPages: Pages = {
  handle: async (_request, response) => {
    response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end("This process serves no pages (--no-pages)\n");
  },
};

const whyNotListening: ReadonlyMap<string, string> = new Map([
  ["EADDRINUSE", "is in use; choose another with --port or PORT"],
  ["EADDRNOTAVAIL", "can't be served: this machine has no such address"],
  ["EACCES", "may not be served by this user; choose one above 1023"],
]);

function listen(server: Server, options: Options): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const where = `port ${options.port} on ${options.listen}`;
      const why = whyNotListening.get(codeOf(error) ?? "");
      reject(why === undefined ? error : new AppError("precondition", `${where} ${why}`, { cause: error }));
    });
    server.listen({ port: options.port, host: options.listen }, () => resolve(addressOf(server).port));
  });
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no address");
  return address;
}

function urlOf(listen: string, port: number): string {
  const host = isAnyAddress(listen) ? "127.0.0.1" : listen;
  return `http://${bracketed(host)}:${port}`;
}

/** Values of Host that mean this server. */
function hostsOf(listen: string, port: number): ReadonlySet<string> {
  const addresses = isAnyAddress(listen) ? interfaceAddresses() : [listen];
  const names = addresses.some(isLoopback) ? ["localhost", ...addresses] : addresses;
  return new Set(names.map((name) => `${bracketed(name)}:${port}`));
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((infos) => (infos ?? []).map((info) => info.address));
}

const isAnyAddress = (address: string) => address === "0.0.0.0" || address === "::";
const isLoopback = (address: string) => address.startsWith("127.") || address === "::1";
const bracketed = (host: string) => (host.includes(":") ? `[${host}]` : host);

function logError(message: string, error: unknown): void {
  // A stack has several lines; what stands in each may be the words of a driver, a cluster or a stranger.
  const text = inspect(error).split("\n").map(withoutControls).join("\n");
  console.error(`${new Date().toISOString()} ${withoutControls(message)}: ${text}`);
}

function logInternal(error: unknown, path: string | undefined): string {
  const reference = randomUUID().slice(0, 8);
  logError(`${reference} ${path ?? "?"}`, error);
  return reference;
}
