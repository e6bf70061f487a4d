/**
 * The server's own certificate authority and certificate: ECDSA on P-256, as X.509 v3 in DER. Only what is needed to make these two;
 * reading and checking is left to the TLS library.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";

export interface KeyAndCertificate {
  /** PEM. */
  readonly key: string;
  /** PEM. */
  readonly certificate: string;
}

const dayMs = 24 * 3600 * 1000;

export function makeAuthority(nowMs: number): KeyAndCertificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const extensions = [
    extension("2.5.29.19", true, sequence(boolean(true))),
    extension("2.5.29.15", true, bits(0x06, 1)),
    extension("2.5.29.14", false, octets(keyId(publicKey))),
  ];
  return issue({ subject: authorityName, publicKey, signer: privateKey, issuerKey: publicKey, extensions, nowMs, days: 3650 }, privateKey);
}

/** A certificate for this machine's loopback names. */
export function makeServerCertificate(authority: KeyAndCertificate, nowMs: number): KeyAndCertificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signer = createPrivateKey(authority.key);
  const names = [context(2, ascii("localhost")), context(7, Buffer.from([127, 0, 0, 1])), context(7, Buffer.from([...Array.from({ length: 15 }, () => 0), 1]))];
  const extensions = [
    extension("2.5.29.19", true, sequence()),
    extension("2.5.29.15", true, bits(0xa0, 5)),
    extension("2.5.29.37", false, sequence(oid("1.3.6.1.5.5.7.3.1"))),
    extension("2.5.29.35", false, sequence(context(0, keyId(createPublicKey(signer))))),
    extension("2.5.29.17", false, sequence(...names)),
  ];
  return issue({ subject: "voldeck-apiserver", publicKey, signer, issuerKey: publicKey, extensions, nowMs, days: 397 }, privateKey);
}

const authorityName = "voldeck-ca";

interface Request {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly issuerKey: KeyObject;
  readonly signer: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly nowMs: number;
  readonly days: number;
}

function issue(request: Request, privateKey: KeyObject): KeyAndCertificate {
  const algorithm = sequence(oid("1.2.840.10045.4.3.2"));
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(randomBytes(16)),
    algorithm,
    name(authorityName),
    sequence(time(request.nowMs - dayMs), time(request.nowMs + request.days * dayMs)),
    name(request.subject),
    request.publicKey.export({ type: "spki", format: "der" }),
    explicit(3, sequence(...request.extensions)),
  );
  const signature = sign("sha256", body, request.signer);
  const der = sequence(body, algorithm, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = der.toString("base64").match(/.{1,64}/gu) ?? [];
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
  };
}

function keyId(publicKey: KeyObject): Buffer {
  return createHash("sha256").update(publicKey.export({ type: "spki", format: "der" })).digest().subarray(0, 20);
}

function name(commonName: string): Buffer {
  return sequence(tagged(0x31, sequence(oid("2.5.4.3"), tagged(0x0c, Buffer.from(commonName, "utf8")))));
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(value));
}

// DER

function tagged(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff);
  return [0x80 | bytes.length, ...bytes];
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

function explicit(number: number, content: Buffer): Buffer {
  return tagged(0xa0 | number, content);
}

function context(number: number, content: Buffer): Buffer {
  return tagged(0x80 | number, content);
}

/** Unsigned: a leading zero byte where the first bit is set. */
function integer(bytes: Buffer): Buffer {
  const trimmed = bytes.subarray(Math.max(0, bytes.findIndex((byte) => byte !== 0)));
  return tagged(0x02, (trimmed[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed);
}

function boolean(value: boolean): Buffer {
  return tagged(0x01, Buffer.from([value ? 0xff : 0]));
}

function octets(content: Buffer): Buffer {
  return tagged(0x04, content);
}

/** A bit string of one byte whose last bits are unused. */
function bits(byte: number, unused: number): Buffer {
  return tagged(0x03, Buffer.from([unused, byte]));
}

function ascii(text: string): Buffer {
  return Buffer.from(text, "ascii");
}

function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]|\.\d{3}/gu, "");
  return Number(text.slice(0, 4)) < 2050 ? tagged(0x17, ascii(text.slice(2))) : tagged(0x18, ascii(text));
}

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) groups.unshift(0x80 | (left & 0x7f));
    bytes.push(...groups);
  }
  return tagged(0x06, Buffer.from(bytes));
}
