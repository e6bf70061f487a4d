/** What the server keeps in the data folder about itself: authority, token, kubeconfig. All files are 0600. */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { codeOf } from "@/lib/errors";
import { makeAuthority, type KeyAndCertificate } from "./certificates";

/** The authority of the folder, made at the first start. */
export async function loadAuthority(folder: string, nowMs: number): Promise<KeyAndCertificate> {
  const key = await readIfThere(path.join(folder, "ca.key"));
  const certificate = await readIfThere(path.join(folder, "ca.crt"));
  if (key !== undefined && certificate !== undefined) return { key, certificate };
  const made = await makeAuthority(nowMs);
  await writePrivate(path.join(folder, "ca.key"), made.key);
  await writePrivate(path.join(folder, "ca.crt"), made.certificate);
  return made;
}

/** 256 random bits, made at the first start. */
export async function loadToken(folder: string): Promise<string> {
  const file = path.join(folder, "token");
  const known = (await readIfThere(file))?.trim();
  if (known !== undefined && known !== "") return known;
  const token = randomBytes(32).toString("base64url");
  await writePrivate(file, token);
  return token;
}

/** Writes the kubeconfig and returns its path. */
export async function writeKubeconfig(folder: string, { url, token, authority }: { url: string; token: string; authority: string }): Promise<string> {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "voldeck",
    clusters: [{ name: "voldeck", cluster: { server: url, "certificate-authority-data": Buffer.from(authority, "utf8").toString("base64") } }],
    users: [{ name: "voldeck", user: { token } }],
    contexts: [{ name: "voldeck", context: { cluster: "voldeck", user: "voldeck" } }],
  };
  const file = path.join(folder, "kubeconfig");
  await writePrivate(file, `${JSON.stringify(config, undefined, 2)}\n`);
  return file;
}

export async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Whole or not at all: written beside, then renamed. */
async function writePrivate(file: string, text: string): Promise<void> {
  const beside = `${file}.new`;
  await writeFile(beside, text, { mode: 0o600 });
  await chmod(beside, 0o600);
  await rename(beside, file);
}
