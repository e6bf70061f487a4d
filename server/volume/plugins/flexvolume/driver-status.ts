/**
 * What a FlexVolume driver answers: one JSON object, read as Go reads it. Source: pkg/volume/flexvolume/driver-call.go
 * (DriverStatus, DriverCapabilities, handleCmdResponse) of v1.37.2.
 */
import { codeOf } from "@/lib/errors";
import { cannotUnmarshal, cannotUnmarshalField, goJSONKind, isSameGoJSONKey, parseGoJSON, type GoJSON, type GoJSONError } from "@/lib/go-json";
import { VolumeError } from "@/server/volume/errors";

export interface DriverCapabilities {
  readonly attach: boolean;
  readonly selinuxRelabel: boolean;
  readonly supportsMetrics: boolean;
  readonly fsGroup: boolean;
  readonly requiresFSResize: boolean;
}

export interface DriverStatus {
  readonly status: string;
  readonly message: string;
  readonly devicePath: string;
  readonly volumeName: string;
  readonly attached: boolean;
  /** undefined when the driver answered null, where the real code crashes. */
  readonly capabilities: DriverCapabilities | undefined;
}

const defaultCapabilities: DriverCapabilities = {
  attach: true,
  selinuxRelabel: true,
  supportsMetrics: false,
  fsGroup: true,
  requiresFSResize: true,
};

const noCapabilities: DriverCapabilities = {
  attach: false,
  selinuxRelabel: false,
  supportsMetrics: false,
  fsGroup: false,
  requiresFSResize: false,
};

const statusSuccess = "Success";
const statusNotSupported = "Not supported";

/** The driver does not know the command; the caller falls back to what it can do itself. */
export function commandNotSupported(): VolumeError {
  return new VolumeError(statusNotSupported, "command-not-supported");
}

/** isCmdNotSupportedErr compares texts, so any error that says so counts; ours is told by its code. */
export function isCommandNotSupported(error: unknown): boolean {
  return codeOf(error) === "command-not-supported";
}

/**
 * The status of a successful call. Throws GoJSONError when the output is no such object, `command-not-supported` when the driver
 * says so, else VolumeError with command, status and the driver's message.
 */
export function readDriverResponse(command: string, output: string): DriverStatus {
  const status = decodeStatus(parseGoJSON(output));
  if (status.status === statusNotSupported) throw commandNotSupported();
  if (status.status === statusSuccess) return status;
  throw new VolumeError(`${command} command failed, status: ${status.status}, reason: ${status.message}`);
}

type Draft<T> = { -readonly [K in keyof T]: T[K] };

/** Reads on after a misfit and throws the first one, as json.Unmarshal does. */
function decodeStatus(json: GoJSON): DriverStatus {
  const status: Draft<DriverStatus> = {
    status: "",
    message: "",
    devicePath: "",
    volumeName: "",
    attached: false,
    capabilities: defaultCapabilities,
  };
  if (json.kind === "null") return status;
  if (json.kind !== "object") throw cannotUnmarshal(goJSONKind(json), "flexvolume.DriverStatus");
  for (const { key, value } of json.members) {
    const name = statusKeys.find((known) => isSameGoJSONKey(key, known));
    if (name === "status") status.status = textOf(value, `DriverStatus.${name}`, status.status);
    if (name === "message") status.message = textOf(value, `DriverStatus.${name}`, status.message);
    if (name === "device") status.devicePath = textOf(value, `DriverStatus.${name}`, status.devicePath);
    if (name === "volumeName") status.volumeName = textOf(value, `DriverStatus.${name}`, status.volumeName);
    if (name === "attached") status.attached = flagOf(value, `DriverStatus.${name}`, status.attached);
    if (name === "volumeNewSize") checkInt64(value, `DriverStatus.${name}`);
    if (name === "Capabilities") status.capabilities = decodeCapabilities(value, status.capabilities);
  }
  return status;
}

/** The names that count; the capabilities carry no tag in Go and so keep their field's name. */
const statusKeys = ["status", "message", "device", "volumeName", "attached", "Capabilities", "volumeNewSize"] as const;
const capabilityKeys = ["attach", "selinuxRelabel", "supportsMetrics", "fsGroup", "requiresFSResize"] as const;

/** null forgets the defaults; an object after that starts from nothing. */
function decodeCapabilities(json: GoJSON, before: DriverCapabilities | undefined): DriverCapabilities | undefined {
  if (json.kind === "null") return undefined;
  if (json.kind !== "object") {
    throw cannotUnmarshalField(goJSONKind(json), "DriverStatus.Capabilities", "flexvolume.DriverCapabilities");
  }
  const capabilities: Draft<DriverCapabilities> = { ...(before ?? noCapabilities) };
  for (const { key, value } of json.members) {
    const name = capabilityKeys.find((known) => isSameGoJSONKey(key, known));
    if (name) capabilities[name] = flagOf(value, `DriverCapabilities.Capabilities.${name}`, capabilities[name]);
  }
  return capabilities;
}

function textOf(json: GoJSON, field: string, before: string): string {
  if (json.kind === "null") return before;
  if (json.kind === "string") return json.value;
  throw misfit(json, field, "string");
}

function flagOf(json: GoJSON, field: string, before: boolean): boolean {
  if (json.kind === "null") return before;
  if (json.kind === "bool") return json.value;
  throw misfit(json, field, "bool");
}

/** The size a driver reports is read and never used. */
function checkInt64(json: GoJSON, field: string): void {
  if (json.kind === "null") return;
  if (json.kind !== "number") throw misfit(json, field, "int64");
  const fits = /^-?\d+$/.test(json.text) && BigInt.asIntN(64, BigInt(json.text)) === BigInt(json.text);
  if (!fits) throw cannotUnmarshalField(`number ${json.text}`, field, "int64");
}

function misfit(json: GoJSON, field: string, goType: string): GoJSONError {
  return cannotUnmarshalField(goJSONKind(json), field, goType);
}
