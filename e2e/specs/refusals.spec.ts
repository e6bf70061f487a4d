/**
 * Every refusal and failure of the two operations, on real disks: who refuses, which object decides, the words, what is left,
 * and what the page says. The data lies on a small file system of its own, so that it can be full; the app lacks
 * CAP_SYS_RESOURCE, so that ext4 can't grow while it is mounted.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync, statfsSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import type { TRPCClient } from "@trpc/client";
import { dataFolderPrefix, project, resetData, startApp, type RunningApp } from "@/e2e/app";
import { kubeOf, proceduresOf } from "@/e2e/cluster-of";
import { mountOf, mountsBelow, sizeOf } from "@/e2e/mounts";
import type { ChangeDialog } from "@/e2e/pages/change-dialog";
import { ClaimPage } from "@/e2e/pages/claims";
import { OperationPage } from "@/e2e/pages/operations";
import { Shell } from "@/e2e/pages/shell";
import { VolumePage } from "@/e2e/pages/volumes";
import type { Pod } from "@/lib/kube/pods";
import type { PersistentVolumeClaim } from "@/lib/kube/storage";
import type { AppRouter } from "@/server/api/router";
import type { ApiClient } from "@/server/cluster/client";
import { resourcePath } from "@/server/cluster/resources";

const mebi = 1024 * 1024;
const namespace = "edge";
const memory = { namespace, pod: "keeper", volume: "memory" };
let disk: string;
let app: RunningApp;
let kube: ApiClient;
let procedures: TRPCClient<AppRouter>;
let cluster: string;

test.skip(process.getuid?.() !== 0, "loop devices need root");
test.describe.configure({ timeout: 120_000 });

test.beforeAll(async () => {
  disk = mkdtempSync(dataFolderPrefix());
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=400m,mode=0755", "voldeck-e2e", disk]);
  app = await startApp({
    dataFolder: join(disk, "data"),
    args: ["--manifests", join(project, "e2e/scenarios/refusals/manifests")],
    prefix: ["setpriv", "--bounding-set=-sys_resource"],
  });
  kube = kubeOf(app);
  procedures = proceduresOf(app);
  cluster = (await procedures.cluster.list.query())[0]?.id ?? "";
  await expect.poll(async () => (await claimOf("mounted")).status?.phase, { timeout: 30_000 }).toBe("Bound");
  const memoryMounts = () => mountsBelow(app.dataFolder).filter((mount) => mount.target.endsWith("/kubernetes.io~empty-dir/memory"));
  await expect.poll(() => memoryMounts().map((mount) => mount.fsType), { timeout: 30_000 }).toEqual(["tmpfs"]);
});

test.afterAll(async () => {
  await kube.close();
  await app.stop();
  await resetData(app.dataFolder);
  execFileSync("umount", [disk]);
  rmdirSync(disk);
});

test.beforeEach(async ({ page }) => {
  await new Shell(page).enter(app.url);
});

const claimOf = (name: string) => kube.get<PersistentVolumeClaim>(resourcePath("persistentvolumeclaims", { namespace, name }));
const memoryFolder = () => mountOf(app.dataFolder, "kubernetes.io/empty-dir", "memory").target;

/** What never leaves Voldeck. `server`: what the API server says to the same, asked in a dry run; undefined where it would agree. */
const refusedAtOnce = [
  {
    condition: "shrink",
    claim: "mounted",
    size: "32Mi",
    check: "Larger than granted",
    object: "claim .status.capacity 64Mi",
    advice: "A volume never shrinks",
    server: "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity",
  },
  {
    condition: "class that forbids growth",
    claim: "fixed",
    size: "128Mi",
    check: "Class allows growing",
    object: "loop-fixed .allowVolumeExpansion false",
    advice: "Whoever owns the class loop-fixed can allow it",
    server: 'persistentvolumeclaims "fixed" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
  },
  {
    condition: "claim whose bond to a volume is missing",
    claim: "unbound",
    size: "2Ti",
    check: "Claim is bound",
    object: "claim .status.phase Pending",
    advice: "A claim can grow only once it is bound",
    server: "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
  },
] as const;

for (const row of refusedAtOnce) {
  test(`Voldeck and the API server refuse: ${row.condition}`, async ({ page }) => {
    const before = await claimOf(row.claim);
    const input = { cluster, namespace, name: row.claim, size: row.size };
    const preview = await procedures.operation.previewExpand.query(input);
    expect(preview.decision).toMatchObject({ kind: "refuse", reason: `${row.check}: ${row.object}` });
    expect(preview.dryRun?.ok).toBe(false);
    expect(preview.dryRun?.words).toContain(row.server);
    await expect(procedures.operation.expand.mutate({ ...input, uid: preview.uid })).rejects.toMatchObject({
      message: `${row.check}: ${row.object}`,
      data: { code: "PRECONDITION_FAILED" },
    });
    const patch = { type: "merge", body: { spec: { resources: { requests: { storage: row.size } } } } } as const;
    await expect(kube.patch(resourcePath("persistentvolumeclaims", { namespace, name: row.claim }), patch)).rejects.toThrow(row.server);
    expect((await claimOf(row.claim)).metadata.resourceVersion).toBe(before.metadata.resourceVersion);

    const claim = new ClaimPage(page);
    await claim.open(cluster, { namespace, name: row.claim });
    if (row.check !== "Larger than granted") await expect(claim.growthCheck(row.check)).toContainText("refuse");
    if (before.status?.phase !== "Bound") {
      await expect(claim.growButton).toHaveAttribute("aria-disabled", "true");
      await claim.growButton.hover();
      await expect(page.getByRole("tooltip")).toContainText("The claim is not bound yet");
      return;
    }
    await seesRefusal(await claim.grow(), row);
    await expect(claim.title).toContainText("ok");
  });
}

async function seesRefusal(dialog: ChangeDialog, row: { size: string; check: string; object: string; advice: string; server?: string }): Promise<void> {
  await dialog.type(row.size);
  await expect(dialog.check(row.check)).toContainText("refuse");
  await expect(dialog.check(row.check)).toContainText(row.object);
  await expect(dialog.check(row.check)).toContainText(row.advice);
  if (row.server !== undefined) await expect(dialog.dryRun).toContainText(row.server);
  await expect(dialog.refusal()).toContainText(row.check);
  await expect(dialog.button()).toHaveAttribute("aria-disabled", "true");
  await dialog.close();
}

const refusedMemory = [
  { condition: "shrink below use", size: "8Mi", check: "Above what is used", object: "node statfs 20Mi", advice: "The kernel refuses a tmpfs below its use (20Mi)" },
  { condition: "more than the node has", size: "10Ti", check: "Below the node's memory", object: "node .status.allocatable.memory", advice: "Voldeck's own refusal" },
] as const;

for (const row of refusedMemory) {
  test(`Voldeck alone refuses, and the API server would agree: ${row.condition}`, async ({ page }) => {
    writeFileSync(join(memoryFolder(), "used"), Buffer.alloc(20 * mebi));
    const input = { cluster, namespace, name: memory.pod, volume: memory.volume, size: row.size };
    const preview = await procedures.operation.previewResize.query(input);
    expect(preview.decision).toMatchObject({ kind: "refuse", reason: expect.stringContaining(`${row.check}: ${row.object}`) });
    expect(preview.dryRun).toMatchObject({ ok: true });
    await expect(procedures.operation.resize.mutate({ ...input, uid: preview.uid })).rejects.toMatchObject({ data: { code: "PRECONDITION_FAILED" } });
    expect(sizeOf(memoryFolder())).toBe(32 * mebi);

    const volume = new VolumePage(page);
    await volume.open(cluster, memory);
    await seesRefusal(await volume.resize(), row);
    unlinkSync(join(memoryFolder(), "used"));
  });
}

/** What the API server accepts and somebody behind it refuses: the operation's page says who. */
const failsLater = [
  {
    who: "nobody",
    condition: "no controller grows folders",
    claim: "folder",
    size: "2Gi",
    word: "stuck",
    sentence: "Nobody acts: no controller grows hostPath volumes",
    event: /waiting for an external controller to expand this PVC/,
    left: { capacity: "1Gi", status: undefined },
  },
  {
    who: "the driver",
    condition: "more than any disk holds",
    claim: "disk",
    size: "4Ei",
    word: "failed",
    sentence: /disk cannot grow to 4Ei: \d+ bytes more are asked for, \d+ are free below/,
    event: /by resizer "voldeck.dev\/loop" failed: \d+ bytes more are asked for/,
    left: { capacity: "64Mi", status: "ControllerResizeInfeasible" },
  },
  {
    who: "the kernel",
    condition: "ext4 that may not grow while it is mounted",
    claim: "mounted",
    size: "96Mi",
    word: "failed",
    sentence: /The volume itself has grown, the file system has not.*Permission denied to resize filesystem/s,
    event: /Permission denied to resize filesystem/,
    left: { capacity: "64Mi", status: "NodeResizeInProgress" },
  },
] as const;

test("what is accepted and then fails is followed to who refused it", async ({ page }) => {
  const begun = new Map<string, string>();
  for (const { claim, size } of failsLater) {
    const { uid } = await procedures.operation.previewExpand.query({ cluster, namespace, name: claim, size });
    const record = await procedures.operation.expand.mutate({ cluster, namespace, name: claim, size, uid });
    begun.set(claim, record.id);
  }
  // The one that nobody takes up comes last: it is called stalled after a minute.
  for (const row of failsLater.toReversed()) {
    await test.step(`${row.who}: ${row.condition}`, async () => {
      const operation = new OperationPage(page);
      await new Shell(page).openPath(`/c/${cluster}/operations/${begun.get(row.claim)}`);
      await expect(operation.titleIn(row.word)).toBeVisible({ timeout: 90_000 });
      await expect(page.getByRole("region", { name: "Where it stands" })).toContainText(row.sentence);
      await new ClaimPage(page).open(cluster, { namespace, name: row.claim });
      await expect(page.getByRole("main")).toContainText(row.event);
      const { status } = await claimOf(row.claim);
      expect({ capacity: status?.capacity?.["storage"], status: status?.allocatedResourceStatuses?.["storage"] }).toEqual(row.left);
    });
  }
});

test("a full disk: the driver refuses, and a smaller request is granted", async ({ page }) => {
  const { bavail, bsize } = statfsSync(disk);
  const filler = join(disk, "filler");
  writeFileSync(filler, Buffer.alloc(bavail * bsize - 24 * mebi));
  const { uid } = await procedures.operation.previewExpand.query({ cluster, namespace, name: "disk", size: "128Mi" });
  const record = await procedures.operation.expand.mutate({ cluster, namespace, name: "disk", size: "128Mi", uid });
  const operation = new OperationPage(page);
  await new Shell(page).openPath(`/c/${cluster}/operations/${record.id}`);
  await expect(operation.titleIn("failed")).toBeVisible();
  await expect(page.getByRole("main")).toContainText(/disk cannot grow to 128Mi: 67108864 bytes more are asked for, \d+ are free below/);
  await expect(page.getByRole("main")).toContainText("Lower the request to a size above 64Mi");

  const claim = new ClaimPage(page);
  await claim.open(cluster, { namespace, name: "disk" });
  const lower = await claim.grow();
  await lower.type("80Mi");
  await lower.confirm();
  await expect(lower.dialog).toContainText("the file system grows at the next mount");
  unlinkSync(filler);
});

test("shrink below use, asked past Voldeck: the kernel refuses, and the volume keeps its size", async () => {
  writeFileSync(join(memoryFolder(), "used"), Buffer.alloc(20 * mebi));
  const resize = resourcePath("pods", { namespace, name: memory.pod, subresource: "resize" });
  const to = (sizeLimit: string) => kube.patch<Pod>(resize, { type: "strategic", body: { spec: { volumes: [{ name: memory.volume, emptyDir: { sizeLimit } }] } } });
  await to("8Mi");
  const condition = async () => {
    const pod = await kube.get<Pod>(resourcePath("pods", { namespace, name: memory.pod }));
    return pod.status?.conditions?.find(({ type }) => type === "PodResizeInProgress");
  };
  await expect.poll(async () => (await condition())?.reason, { timeout: 30_000 }).toBe("Error");
  expect((await condition())?.message).toMatch(/failed to resize volume memory: mount failed: exit status 32/);
  expect(sizeOf(memoryFolder())).toBe(32 * mebi);
  unlinkSync(join(memoryFolder(), "used"));
  await to("32Mi");
  await expect.poll(condition, { timeout: 60_000 }).toBeUndefined();
});

test("no plugin: the node never mounts the volume, and both pages say why", async ({ page }) => {
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "stranger", namespace },
    spec: {
      containers: [{ name: "stranger", image: "busybox", volumeMounts: [{ name: "data", mountPath: "/data" }] }],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "foreign" } }],
    },
  };
  await kube.create(resourcePath("pods", { namespace }), pod);
  const { uid } = await procedures.operation.previewExpand.query({ cluster, namespace, name: "foreign", size: "2Gi" });
  const record = await procedures.operation.expand.mutate({ cluster, namespace, name: "foreign", size: "2Gi", uid });
  const volume = new VolumePage(page);
  await volume.open(cluster, { namespace, pod: "stranger", volume: "data" });
  await expect(volume.title).toContainText("stuck at match");
  await expect(volume.match).toContainText("no volume plugin matched");
  await new Shell(page).openPath(`/c/${cluster}/operations/${record.id}`);
  const operation = new OperationPage(page);
  await expect(operation.titleIn("stuck")).toBeVisible();
  await expect(page.getByRole("region", { name: "Where it stands" })).toContainText(/cannot mount foreign, so nothing grows its file system: no volume plugin matched/);
  await expect(page.getByRole("region", { name: "Where it stands" })).toContainText("Install the driver that the volume names");
  expect((await claimOf("foreign")).status?.capacity).toEqual({ storage: "1Gi" });
});
