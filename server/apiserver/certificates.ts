/** The server's own certificate authority and certificate: ECDSA on P-256, for this machine's loopback names. */
import "reflect-metadata";
import { randomBytes } from "node:crypto";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

export interface KeyAndCertificate {
  /** PEM. */
  readonly key: string;
  /** PEM. */
  readonly certificate: string;
}

const dayMs = 24 * 3600 * 1000;
const curve = { name: "ECDSA", namedCurve: "P-256" };
const signature = { name: "ECDSA", hash: "SHA-256" };

export async function makeAuthority(nowMs: number): Promise<KeyAndCertificate> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...validity(nowMs, 3650),
    name: "CN=voldeck-ca",
    keys,
    signingAlgorithm: signature,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return pemOf(keys.privateKey, certificate);
}

/** A certificate for this machine's loopback names, signed by the authority. */
export async function makeServerCertificate(authority: KeyAndCertificate, nowMs: number): Promise<KeyAndCertificate> {
  const keys = await newKeys();
  const issuer = new X509Certificate(authority.certificate);
  const certificate = await X509CertificateGenerator.create({
    ...validity(nowMs, 397),
    subject: "CN=voldeck-apiserver",
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey: await importKey(authority.key),
    signingAlgorithm: signature,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      await AuthorityKeyIdentifierExtension.create(issuer),
      new SubjectAlternativeNameExtension([
        { type: "dns", value: "localhost" },
        { type: "ip", value: "127.0.0.1" },
        { type: "ip", value: "::1" },
      ]),
    ],
  });
  return pemOf(keys.privateKey, certificate);
}

function newKeys(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(curve, true, ["sign", "verify"]);
}

/** From a day ago: clocks of clients may be behind. */
function validity(nowMs: number, days: number) {
  return {
    serialNumber: randomBytes(16).toString("hex"),
    notBefore: new Date(nowMs - dayMs),
    notAfter: new Date(nowMs + days * dayMs),
  };
}

function importKey(pem: string): Promise<CryptoKey> {
  return crypto.subtle.importKey("pkcs8", PemConverter.decodeFirst(pem), curve, false, ["sign"]);
}

async function pemOf(privateKey: CryptoKey, certificate: X509Certificate): Promise<KeyAndCertificate> {
  const key = await crypto.subtle.exportKey("pkcs8", privateKey);
  return { key: `${PemConverter.encode(key, "PRIVATE KEY")}\n`, certificate: `${certificate.toString("pem")}\n` };
}
