import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rmdir, symlink, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { dataFolderPrefix, project, resetData } from "@/e2e/app";

test.setTimeout(120_000);

test("SIGTERM to npm, as a service manager sends it, stops the app: nothing goes on without a parent", async () => {
  const folder = await mkdtemp(dataFolderPrefix());
  const args = ["start", "--", "--no-build", "--no-pages", "--port", "0", "--data", folder];
  const npm = spawn("npm", args, { cwd: project, env: { ...process.env, KUBECONFIG: "", HOME: "/nonexistent" }, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  npm.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const url = () => /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
  await expect.poll(url, { timeout: 60_000 }).toBeDefined();
  const exited = once(npm, "exit");
  npm.kill("SIGTERM");
  await exited;
  await expect.poll(() => output).toContain("Stopping (SIGTERM)");
  // The port closes with the process; a reset is refused while one still holds the folder.
  await expect.poll(() => fetch(`${url()}/healthz`).then(() => "answers", () => "gone")).toBe("gone");
  await resetData(folder);
});

test("the voldeck command runs from any folder, through the link that npm makes of it", async () => {
  const folder = await mkdtemp(dataFolderPrefix());
  const link = join(folder, "voldeck");
  await symlink(join(project, "bin/voldeck"), link);
  expect(execFileSync(link, ["inspect", "--help"], { cwd: tmpdir(), encoding: "utf8" })).toContain("--root FOLDER");
  await unlink(link);
  await rmdir(folder);
});
