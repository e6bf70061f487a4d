/**
 * The one socket of a tab: Host and Origin are checked on the upgrade, the token comes with the connection parameters. It
 * carries subscriptions only; changes go by POST.
 */
import { STATUS_CODES, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { TRPCError } from "@trpc/server";
import { applyWSSHandler } from "@trpc/server/adapters/ws";
import { WebSocketServer } from "ws";
import type { ApiContext } from "@/server/api/context";
import type { SocketRouter } from "@/server/api/router";
import { factsOf } from "./server";
import { apiPrefix, refuseUpgrade, sameSecret, type SecurityPolicy } from "./security";

export const maxSockets = 64;
const maxMessageBytes = 64_000;
const authenticateWithinMs = 10_000;

export interface SocketParts {
  readonly router: SocketRouter;
  readonly createContext: () => ApiContext;
  readonly policy: () => SecurityPolicy;
  readonly isClosing: () => boolean;
  readonly onError: (message: string, error: unknown) => void;
}

export interface SocketServer {
  /** Takes the upgrade when it is for the API; false when it is not. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Tells every tab to come back later and ends all sockets. */
  close(): void;
}

export function createSocketServer(parts: SocketParts): SocketServer {
  const server = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes });
  const authenticated = new WeakSet<IncomingMessage>();
  const handler = applyWSSHandler({
    wss: server,
    router: parts.router,
    createContext: ({ req, info }) => {
      if (!sameSecret(info.connectionParams?.["token"] ?? "", parts.policy().token)) {
        throw new TRPCError({ code: "UNAUTHORIZED", message: "A token is needed" });
      }
      authenticated.add(req);
      return parts.createContext();
    },
    onError: ({ error, path }) => {
      if (error.code === "INTERNAL_SERVER_ERROR") parts.onError(`socket ${path ?? "?"}`, error);
    },
    keepAlive: { enabled: true, pingMs: 20_000, pongWaitMs: 10_000 },
  });
  server.on("connection", (client, request) => {
    client.on("error", (error) => parts.onError("socket", error));
    const timer = setTimeout(() => {
      if (!authenticated.has(request)) client.close(4401, "no token");
    }, authenticateWithinMs);
    client.once("close", () => clearTimeout(timer));
  });
  return {
    upgrade(request, socket, head) {
      const facts = factsOf(request);
      const refusal = refuseUpgrade(parts.policy(), facts);
      if (refusal) refuseSocket(socket, refusal.status, refusal.message);
      else if (facts.path !== apiPrefix) return false;
      else if (parts.isClosing() || server.clients.size >= maxSockets) refuseSocket(socket, 503, "No socket is free now");
      else server.handleUpgrade(request, socket, head, (client) => server.emit("connection", client, request));
      return true;
    },
    close() {
      handler.broadcastReconnectNotification();
      for (const client of server.clients) client.close(1001, "Voldeck is stopping");
      server.close();
    },
  };
}

export function refuseSocket(socket: Duplex, status: number, text: string): void {
  socket.on("error", () => socket.destroy());
  const body = `${text}\n`;
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
