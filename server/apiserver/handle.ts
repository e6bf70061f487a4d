/** One request from path to answer: which verb on which object, and every refusal as a Status. */
import { codeOf, messageOf } from "@/lib/errors";
import { goQuote } from "@/lib/go-text";
import { bindPod } from "./bind";
import { decodeObject } from "./codec";
import type { ApiResponse, ServerContext } from "./context";
import { createObject, type Write } from "./create";
import { deleteObject, deleteOptionsOf } from "./delete";
import { deleteCollection } from "./delete-collection";
import { answerDiscovery } from "./discovery";
import { getObject } from "./get";
import { apiVersionOf } from "./kinds";
import { listObjects } from "./list";
import { negotiateOutput, type OutputForm } from "./negotiate";
import { checkListOptions, defaultListOptions, readListOptions, readWriteOptions, type ListOptions, type WriteVerb } from "./options";
import { patchObject, patchTypeOf } from "./patch";
import { findTarget, type ApiRequest, type Target } from "./request";
import { respond, respondError, type Reply } from "./respond";
import { parseSelectors, type Selectors } from "./selection";
import { ApiError, badRequest, genericResponse, internalError, isApiError, statusError } from "./status";
import { putObject } from "./update";
import { Warnings } from "./warnings";
import { watchObjects } from "./watch";

/** Never throws: what goes wrong becomes an answer. */
export function handleRequest(context: ServerContext, request: ApiRequest): ApiResponse {
  const warnings = new Warnings();
  try {
    const discovered = answerDiscovery(context, request);
    if (discovered !== undefined) return discovered;
    const target = findTarget(request.path, context.kinds);
    if (target === undefined) throw notServed(context, request.path);
    return new Handler({ context, request, target, warnings }).run();
  } catch (error) {
    const refusal = isApiError(error) ? error : internalError(`${codeOf(error) ?? "error"}: ${messageOf(error)}`);
    return respondError(refusal, warnings, errorMediaType(request));
  }
}

/** Below a version that is served the answer is a Status, elsewhere plain text. */
function notServed({ kinds }: ServerContext, path: string): ApiError {
  const version = /^\/(?:api\/(v1)|apis\/([^/]+\/[^/]+))\/./u.exec(path);
  const served = version !== null && kinds.all().some((kind) => apiVersionOf(kind) === (version[1] ?? version[2]));
  if (served) return genericResponse({ code: 404, verb: "", of: { group: "", resource: "" }, name: "", serverMessage: "" });
  return new ApiError(statusError(404, "NotFound", "").status, "404 page not found\n");
}

function errorMediaType(request: ApiRequest): string {
  return (request.headers.get("accept") ?? "").startsWith("application/yaml") ? "application/yaml" : "application/json";
}

interface Work {
  readonly context: ServerContext;
  readonly request: ApiRequest;
  readonly target: Target;
  readonly warnings: Warnings;
}

class Handler {
  private readonly form: OutputForm;

  constructor(private readonly work: Work) {
    this.checkMethod();
    this.form = negotiateOutput(work.request.headers.get("accept"), work.target.name === "" && work.request.method === "GET");
  }

  run(): ApiResponse {
    const { request, target } = this.work;
    checkSegments(target, request.method);
    switch (request.method) {
      case "GET":
        return target.name === "" ? this.list() : this.get();
      case "POST":
        return this.create();
      case "PUT":
        return this.update();
      case "PATCH":
        return this.patch();
      default:
        return target.name === "" ? this.deleteAll() : this.delete();
    }
  }

  private checkMethod(): void {
    const { context, request, target } = this.work;
    const allowed = allowedMethods(target);
    const writes = request.method !== "GET";
    if (allowed.includes(request.method) && !(writes && context.readOnly)) return;
    throw genericResponse({ code: 405, verb: "", of: { group: "", resource: "" }, name: "", serverMessage: "" });
  }

  private get(): ApiResponse {
    const { context, target, request } = this.work;
    if (isTrue(request.query.get("watch"))) return this.list();
    return this.respond(200, getObject(context, target, request.query).object);
  }

  private list(): ApiResponse {
    const { context, target } = this.work;
    const { options, selectors } = this.listOptions();
    if (!options.watch) return this.respond(200, listObjects(context, target, { options, selectors }));
    const stream = watchObjects({ reply: this.reply(), target, options, selectors });
    return { code: 200, contentType: "application/json", body: "", warnings: [], stream };
  }

  private listOptions(): { options: ListOptions; selectors: Selectors } {
    const { request, target } = this.work;
    const options = readListOptions(request.query);
    parseSelectors(options);
    defaultListOptions(options);
    checkListOptions(options);
    const selectors = parseSelectors(options, target.kind);
    if (target.name !== "" && selectors.fields.length > 0) {
      const named = selectors.fields.some(({ field, equal, value }) => field === "metadata.name" && equal && value === target.name);
      if (!named) throw badRequest("fieldSelector metadata.name doesn't match requested name");
    }
    return { options, selectors };
  }

  private create(): ApiResponse {
    const write = this.write("CreateOptions");
    if (write.target.subresource === "binding") return this.respond(201, bindPod(write, this.work.request));
    return this.respond(201, createObject(write, this.decode(write)));
  }

  private update(): ApiResponse {
    const write = this.write("UpdateOptions");
    const { object, created } = putObject(write, this.decode(write));
    return this.respond(created ? 201 : 200, object);
  }

  private patch(): ApiResponse {
    const type = patchTypeOf(this.work.request, this.work.target.kind);
    const write = this.write("PatchOptions", type);
    return this.respond(200, patchObject(write, this.work.request, type));
  }

  private delete(): ApiResponse {
    const { context, target, request } = this.work;
    return this.respond(200, deleteObject(context, target, deleteOptionsOf(request)));
  }

  private deleteAll(): ApiResponse {
    const { context, target, request } = this.work;
    const chosen = this.listOptions();
    return this.respond(200, deleteCollection(context, target, { ...chosen, deletion: deleteOptionsOf(request) }));
  }

  private write(verb: WriteVerb, patchType = ""): Write {
    const { context, target, request, warnings } = this.work;
    return { context, target, warnings, options: readWriteOptions(request.query, verb, patchType) };
  }

  private decode({ options, warnings }: Write): ReturnType<typeof decodeObject> {
    const { context, request, target } = this.work;
    return decodeObject(request, target.kind, { kinds: context.kinds, fieldValidation: options.fieldValidation, warnings });
  }

  private reply(): Reply {
    const { context, target, request, warnings } = this.work;
    return { context, kind: target.kind, form: this.form, query: request.query, warnings };
  }

  private respond(code: number, object: ReturnType<typeof listObjects>): ApiResponse {
    return respond(this.reply(), code, object);
  }
}

/** IsValidPathSegmentName of the name; the storage's prepareKey of the namespace. */
function checkSegments({ kind, namespace, name }: Target, method: string): void {
  if (name === "." || name === "..") throw badRequest(`Name parameter invalid: "${name}": may not be '${name}'`);
  if (name.includes("%")) throw badRequest(`Name parameter invalid: ${goQuote(name)}: may not contain '%'`);
  if (method !== "GET" || (namespace !== "." && namespace !== "..")) return;
  const key = [kind.resource, namespace, ...(name === "" ? [] : [name])].join("/");
  throw statusError(500, "", `invalid key: "/${key}"`);
}

function isTrue(text: string | null): boolean {
  return text !== null && text !== "0" && text.toLowerCase() !== "false";
}

function allowedMethods({ kind, namespace, name, subresource }: Target): readonly string[] {
  if (subresource === "binding") return ["POST"];
  if (subresource === "finalize") return ["PUT"];
  if (subresource !== "") return ["GET", "PUT", "PATCH"];
  if (name !== "") return ["GET", "PUT", "PATCH", "DELETE"];
  if (kind.resource === "namespaces" && kind.group === "") return ["GET", "POST"];
  return kind.namespaced && namespace === "" ? ["GET", "POST"] : ["GET", "POST", "DELETE"];
}
