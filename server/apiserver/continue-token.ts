/** Continue tokens of chunked lists. Source: k8s.io/apiserver/pkg/storage/continue.go and ValidateListOptions of interfaces.go. */
import { goJsonInOrder } from "@/lib/go-text";
import { messageOf } from "@/lib/errors";
import { isObject, parseJson } from "@/lib/kube/json";
import { parseResourceVersion } from "./resource-version";
import { badRequest, unknownError } from "./status";

const version = "meta.k8s.io/v1";

export interface ContinueKey {
  /** The whole key from which the next chunk starts. */
  readonly key: string;
  /** Negative: continue at the newest revision. */
  readonly revision: bigint;
}

/** Throws an Error with Go's words. */
export function decodeContinue(token: string, prefix: string): ContinueKey {
  const fail = (why: string): never => {
    throw new Error(`continue key is not valid${why}`);
  };
  const read = (): ReturnType<typeof parseJson>["value"] => {
    try {
      const decoded = decodeBase64Url(token);
      const text = decoded.toString("utf8");
      const isText = Buffer.from(text, "utf8").equals(decoded);
      return isText ? parseJson(text).value : parseJson(decoded.toString("latin1"), { bytes: true }).value;
    } catch (error) {
      return fail(`: ${messageOf(error)}`);
    }
  };
  const value = read();
  if (value !== null && !isObject(value)) return fail(`: json: cannot unmarshal ${Array.isArray(value) ? "array" : goKind(value)} into Go value of type storage.continueToken`);
  const field = (name: string): unknown => Object.entries(value ?? {}).find(([key]) => key.toLowerCase() === name)?.[1] ?? undefined;
  const apiVersion = field("v") ?? "";
  const revision = field("rv") ?? 0;
  const start = field("start") ?? "";
  if (typeof apiVersion !== "string") return fail(mismatch(apiVersion, "v", "string"));
  if (typeof revision !== "number" && typeof revision !== "bigint") return fail(mismatch(revision, "rv", "int64"));
  if (typeof start !== "string") return fail(mismatch(start, "start", "string"));
  if (!isInt64(revision)) return fail(`: json: cannot unmarshal number ${revision} into Go struct field continueToken.rv of type int64`);
  if (apiVersion !== version) return fail(`: server does not recognize this encoded version ${apiVersion}`);
  if (BigInt(revision) === 0n) return fail(`: incorrect encoded start resourceVersion (version ${version})`);
  if (start === "") return fail(`: encoded start key empty (version ${version})`);
  const key = start.startsWith("/") ? start : `/${start}`;
  if (cleanPath(key) !== key) return fail(`: ${start}`);
  return { key: prefix + key.slice(1), revision: BigInt(revision) };
}

function mismatch(value: unknown, field: string, type: string): string {
  return `: json: cannot unmarshal ${goKind(value)} into Go struct field continueToken.${field} of type ${type}`;
}

function isInt64(value: number | bigint): boolean {
  if (typeof value === "number" && !Number.isInteger(value)) return false;
  return BigInt.asIntN(64, BigInt(value)) === BigInt(value);
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value === "bigint" ? "number" : typeof value;
}

/** Throws where the key does not start with the prefix. */
export function encodeContinue(key: string, prefix: string, revision: bigint): string {
  if (prefix === "" || !key.startsWith(prefix)) throw new Error("unable to encode next field: the key and key prefix do not match");
  const body = goJsonInOrder({ v: version, rv: revision, start: key.slice(prefix.length) });
  return Buffer.from(body, "utf8").toString("base64url");
}

export interface Chunk {
  readonly lastKey: string;
  readonly prefix: string;
  readonly revision: bigint;
  /** All objects below the prefix that follow, those of this chunk included. */
  readonly count: bigint;
  readonly limit: bigint;
  readonly more: boolean;
  /** Nothing is selected by label or field. */
  readonly everything: boolean;
}

export function prepareContinue(chunk: Chunk): { continue: string; remainingItemCount: bigint | undefined } {
  if (!chunk.more) return { continue: "", remainingItemCount: undefined };
  const token = encodeContinue(`${chunk.lastKey}\u0000`, chunk.prefix, chunk.revision);
  return { continue: token, remainingItemCount: chunk.everything ? chunk.count - chunk.limit : undefined };
}

export interface ListPlan {
  /** 0: the newest. */
  readonly atRevision: bigint;
  readonly continueKey: string;
}

export interface ListQuery {
  readonly continue: string;
  readonly limit: bigint;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
}

/** At which revision and from which key a list reads (storage.ValidateListOptions). Throws ApiError 400. */
export function planList(prefix: string, query: ListQuery): ListPlan {
  if (query.continue !== "") {
    const from = readContinue(query.continue, prefix);
    if (query.resourceVersion !== "" && query.resourceVersion !== "0") {
      throw badRequest("specifying resource version is not allowed when using continue");
    }
    return { atRevision: from.revision > 0n ? from.revision : 0n, continueKey: from.key };
  }
  if (query.resourceVersion === "") return { atRevision: 0n, continueKey: "" };
  const revision = parseResourceVersion(query.resourceVersion, (text) => badRequest(`invalid resource version: ${text}`));
  if (query.resourceVersionMatch === "NotOlderThan") return { atRevision: 0n, continueKey: "" };
  if (query.resourceVersionMatch === "Exact") return { atRevision: BigInt.asIntN(64, revision), continueKey: "" };
  if (query.resourceVersionMatch !== "") throw unknownError(`unknown ResourceVersionMatch value: ${query.resourceVersionMatch}`);
  return { atRevision: query.limit > 0n && revision > 0n ? BigInt.asIntN(64, revision) : 0n, continueKey: "" };
}

function readContinue(token: string, prefix: string): ContinueKey {
  try {
    return decodeContinue(token, prefix);
  } catch (error) {
    throw badRequest(`invalid continue token: ${messageOf(error)}`);
  }
}

const alphabet = /^[A-Za-z0-9_-]$/u;

/** base64.RawURLEncoding: no padding; line ends are skipped. */
function decodeBase64Url(token: string): Buffer {
  const bytes = Buffer.from(token, "utf8").toString("latin1");
  let clean = "";
  for (let index = 0; index < bytes.length; index += 1) {
    const char = bytes.charAt(index);
    if (char === "\n" || char === "\r") continue;
    if (!alphabet.test(char)) throw new Error(`illegal base64 data at input byte ${index}`);
    clean += char;
  }
  if (clean.length % 4 === 1) throw new Error(`illegal base64 data at input byte ${bytes.length - 1}`);
  return Buffer.from(clean, "base64url");
}

/** Go's path.Clean for a rooted path. */
function cleanPath(path: string): string {
  const out: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") out.pop();
    else out.push(part);
  }
  return `/${out.join("/")}`;
}
