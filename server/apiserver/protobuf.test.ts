import { describe, expect, it } from "vitest";
import { stringifyJson, type JsonObject } from "@/lib/kube/json";
import { decodeProtobuf, isProtobuf } from "./protobuf";

function varint(value: bigint): number[] {
  const rest = BigInt.asUintN(64, value);
  return rest < 0x80n ? [Number(rest)] : [Number(rest & 0x7fn) | 0x80, ...varint(rest >> 7n)];
}

function block(number: number, ...bytes: readonly (number | readonly number[])[]): number[] {
  const body = bytes.flat();
  return [(number << 3) | 2, ...varint(BigInt(body.length)), ...body];
}

function text(number: number, value: string): number[] {
  return block(number, [...Buffer.from(value, "utf8")]);
}

function int(number: number, value: bigint): number[] {
  return [number << 3, ...varint(value)];
}

function envelope(apiVersion: string, kind: string, raw: readonly number[]): Uint8Array {
  return Uint8Array.from([...Buffer.from("k8s\0", "latin1"), ...block(1, text(1, apiVersion), text(2, kind)), ...block(2, raw)]);
}

function decoded(body: Uint8Array): unknown {
  const object: JsonObject | undefined = decodeProtobuf(body);
  return object === undefined ? undefined : JSON.parse(stringifyJson(object));
}

describe("a body in protobuf", () => {
  it("is told by its magic number", () => {
    expect(isProtobuf(envelope("v1", "Pod", []))).toBe(true);
    expect(isProtobuf(Buffer.from("{}"))).toBe(false);
  });

  it("reads maps, empty plain fields and bytes", () => {
    const metadata = block(1, text(1, "one"), text(2, ""), block(11, text(1, "a"), text(2, "b")), block(8));
    const body = envelope("v1", "ConfigMap", [...metadata, ...block(2, text(1, "k"), text(2, "v")), ...block(3, text(1, "b"), block(2, [1, 2]))]);
    expect(decoded(body)).toEqual({ kind: "ConfigMap", apiVersion: "v1", metadata: { name: "one", labels: { a: "b" } }, data: { k: "v" }, binaryData: { b: "AQI=" } });
  });

  it("keeps what a pointer points to, though it be empty", () => {
    expect(decoded(envelope("v1", "ConfigMap", int(4, 0n)))).toEqual({ kind: "ConfigMap", apiVersion: "v1", immutable: false });
  });

  it("reads quantities, embedded structs and negative numbers", () => {
    const volume = block(2, block(1, text(1, "storage"), block(2, text(1, "1Gi"))), block(2, block(3, text(1, "/x"))));
    expect(decoded(envelope("v1", "PersistentVolume", volume))).toEqual({
      kind: "PersistentVolume",
      apiVersion: "v1",
      spec: { capacity: { storage: "1Gi" }, hostPath: { path: "/x" } },
    });
    expect(decoded(envelope("v1", "Event", int(8, -3n)))).toEqual({ kind: "Event", apiVersion: "v1", count: -3 });
  });

  it("reads times", () => {
    const body = envelope("v1", "Event", [...block(6, int(1, 1780272000n)), ...block(10, int(1, 1780272000n), int(2, 5000n))]);
    expect(decoded(body)).toMatchObject({ firstTimestamp: "2026-06-01T00:00:00Z", eventTime: "2026-06-01T00:00:00.000005Z" });
  });

  it("does not know every kind", () => {
    expect(decoded(envelope("example.com/v1", "Thing", []))).toBeUndefined();
  });

  it("refuses a body that ends too early", () => {
    expect(() => decodeProtobuf(envelope("v1", "ConfigMap", []).subarray(0, 12))).toThrow("unexpected EOF");
  });
});
