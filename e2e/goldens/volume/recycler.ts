import type { Adapter, Answer, GoldenLine } from "@/e2e/goldens/adapter";
import { answerOf } from "@/e2e/goldens/answers";
import { specOf, type GoldenSpec } from "@/e2e/goldens/golden-spec";
import { podFromText } from "@/e2e/goldens/pod-text";
import { asGoWrites, hostPathDelete, hostPathProvision, recycle } from "@/e2e/goldens/recycling";
import { kubeletManager } from "@/e2e/goldens/kubelet-manager";
import { AppError, messageOf } from "@/lib/errors";
import { compareText } from "@/lib/names";
import type { Pod, PodSecurityContext, PodStatus, Secret, SELinuxOptions } from "@/lib/kube/pods";
import type { Volume } from "@/lib/kube/volumes";
import {
  accessModesAsString,
  accessModesFromString,
  containsAccessMode,
  containsAllAccessModes,
  isMultiAttachAllowed,
} from "@/server/volume/access-modes";
import { joinMountOptions, mountOptionFromSpec } from "@/server/volume/mount-options";
import { hasMountRefs } from "@/server/volume/paths";
import { loadPodFromFile } from "@/server/volume/pod-file";
import { fsUserFrom, getPodVolumeNames, isPodTerminated } from "@/server/volume/pod-volumes";
import { FileError } from "@/server/volume/ports";
import {
  calculateTimeoutForVolume,
  newPersistentVolumeRecyclerPodTemplate,
  validateRecyclerPodTemplate,
} from "@/server/volume/recycler";
import { getSecretForPV } from "@/server/volume/secrets";
import {
  addSELinuxMountOption,
  fixedTranslator,
  getMountSELinuxLabel,
  isMultipleSELinuxLabels,
  volumeSupportsSELinuxMount,
} from "@/server/volume/selinux";
import type { Spec } from "@/server/volume/spec";
import { checkVolumeModeFilesystem, getVolumeMode, isLocalEphemeralVolume } from "@/server/volume/volume-mode";
import { getWindowsPath, isWindowsLocalPath, isWindowsUNCPath, makeAbsolutePath } from "@/server/volume/windows-paths";

/** Everything any of the functions is given; each reads its own. */
interface Input {
  readonly [key: string]: unknown;
  readonly pod: Pod | null;
  readonly spec: GoldenSpec | null;
  readonly volume: Volume;
  readonly capacity: string;
  readonly minimumTimeout: number;
  readonly timeoutIncrement: number;
  readonly system: readonly string[];
  readonly user: readonly string[];
  readonly options: readonly string[] & SELinuxOptions;
  readonly mode: readonly string[];
  readonly modes: readonly string[] & string;
  readonly indexed: readonly string[];
  readonly requested: readonly string[];
  readonly mountPath: string;
  readonly refs: readonly string[];
  readonly path: string;
  readonly content?: string;
  readonly context: string;
  readonly containerLabels: readonly (SELinuxOptions | null)[];
  readonly podSecurityContext: PodSecurityContext | null;
  readonly status: PodStatus;
  readonly deletionTimestampSet: boolean;
  readonly namespace: string;
  readonly name: string;
  readonly plugin: string;
  readonly secret: Secret | null;
}

type Ask = (input: Input, spec: Spec) => unknown;

/** What Go gives beside an error is the zero value of the function's result. */
const zeroBesideError: Readonly<Record<string, unknown>> = {
  ValidateRecyclerPodTemplate: true,
  GetVolumeMode: "",
  CheckVolumeModeFilesystem: true,
  GetSecretForPV: {},
};

const functions: Readonly<Record<string, Ask>> = {
  NewPersistentVolumeRecyclerPodTemplate: () => asGoWrites(newPersistentVolumeRecyclerPodTemplate()),
  ValidateRecyclerPodTemplate: ({ pod }) => {
    validateRecyclerPodTemplate(pod ?? undefined);
    return true;
  },
  CalculateTimeoutForVolume: ({ capacity, minimumTimeout, timeoutIncrement }) =>
    calculateTimeoutForVolume(minimumTimeout, timeoutIncrement, {
      metadata: { name: "pv" },
      spec: capacity === "" ? {} : { capacity: { storage: capacity } },
    }),
  JoinMountOptions: ({ user, system }) => joinMountOptions(user, system),
  MountOptionFromSpec: ({ options }, spec) => mountOptionFromSpec(spec, ...(options ?? [])),
  GetAccessModesAsString: ({ modes }) => accessModesAsString(modes),
  GetAccessModesFromString: ({ modes }) => accessModesFromString(modes),
  ContainsAccessMode: ({ mode, modes }) => mode.map((one) => containsAccessMode(modes, one)),
  ContainsAllAccessModes: ({ indexed, requested }) => containsAllAccessModes(indexed, requested),
  IsMultiAttachAllowed: (_input, spec) => isMultiAttachAllowed(spec),
  GetVolumeMode: (_input, spec) => getVolumeMode(spec),
  CheckVolumeModeFilesystem: (_input, spec) => checkVolumeModeFilesystem(spec),
  VolumeSupportsSELinuxMount: (_input, spec) => volumeSupportsSELinuxMount(spec),
  IsLocalEphemeralVolume: ({ volume }) => isLocalEphemeralVolume(volume),
  HasMountRefs: ({ mountPath, refs }) => hasMountRefs(mountPath, refs),
  windowsPaths: ({ path }) => ({
    getWindowsPath: getWindowsPath(path),
    isUNCOnWindows: isWindowsUNCPath("windows", path),
    isUNCOnLinux: isWindowsUNCPath("linux", path),
    isLocalOnWindows: isWindowsLocalPath("windows", path),
    isLocalOnLinux: isWindowsLocalPath("linux", path),
    absoluteOnWindows: makeAbsolutePath("windows", path),
    absoluteOnLinux: makeAbsolutePath("linux", path),
  }),
  FakeSELinuxOptionsToFileLabel: ({ options }) => fixedTranslator.optionsToFileLabel(options ?? undefined),
  AddSELinuxMountOption: ({ options, context }) => addSELinuxMountOption(options, context),
  FsUserFrom: ({ pod }) => (pod ? fsUserFrom(pod) : undefined),
  GetPodVolumeNames: ({ pod }) => pod && volumeNames(pod),
  IsPodTerminated: ({ status, deletionTimestampSet }) => {
    const deletionTimestamp = deletionTimestampSet ? "2026-01-02T03:04:05Z" : undefined;
    return isPodTerminated({ metadata: { name: "p", deletionTimestamp }, spec: { containers: [] } }, status);
  },
  GetSecretForPV: (input) => secretFor(input),
};

const records: Readonly<Record<string, (line: GoldenLine) => Promise<Answer>>> = {
  GetMountSELinuxLabel: (line) => mountLabel(line.in as Input),
  LoadPodFromFile: (line) => loadPod(line.in as Input),
  Recycle: (line) => recycle(line.in),
  hostPathDelete: (line) => hostPathDelete(line.in),
  hostPathProvision: (line) => hostPathProvision(line.in),
};

export const adapter: Adapter = {
  async answer(line) {
    const record = records[line.fn];
    if (record) return record(line);
    const ask = functions[line.fn];
    if (!ask) throw new Error(`no function is called ${line.fn}`);
    const input = line.in as Input;
    const answer = await answerOf(() => ask(input, specOf(input.spec) as Spec));
    return answer.err === undefined ? answer : { out: zeroBesideError[line.fn], ...answer };
  },
};

function volumeNames(pod: Pod): unknown {
  const { mounts, devices, seLinux } = getPodVolumeNames(pod);
  return {
    mounts: [...mounts].sort(compareText),
    devices: [...devices].sort(compareText),
    seLinux: Object.fromEntries(seLinux),
  };
}

async function secretFor({ namespace, name, plugin, secret, kubeClient }: Input): Promise<unknown> {
  const getSecret = async (): Promise<Secret> => {
    if (!secret) throw new AppError("not-found", `secrets "${name}" not found`);
    return secret;
  };
  const notAsked = async (): Promise<never> => {
    throw new Error("only the secret is asked for");
  };
  const client = {
    getSecret,
    getConfigMap: notAsked,
    getVolumeAttachment: notAsked,
    createPod: notAsked,
    deletePod: notAsked,
  };
  const values = await getSecretForPV({ namespace, name }, plugin, kubeClient === null ? undefined : client);
  return Object.fromEntries([...values].map(([key, bytes]) => [key, Buffer.from(bytes).toString("utf8")]));
}

async function mountLabel({ spec, containerLabels, podSecurityContext }: Input): Promise<Answer> {
  const question = {
    spec: specOf(spec) as Spec,
    containerOptions: containerLabels.map((options) => options ?? undefined),
    podSecurityContext: podSecurityContext ?? undefined,
  };
  const record = (info: Awaited<ReturnType<typeof getMountSELinuxLabel>>): Record<string, unknown> => ({
    pluginSupportsSELinuxContextMount: info.pluginSupportsContextMount,
    seLinuxMountLabel: info.mountLabel,
    seLinuxProcessLabel: info.processLabel,
  });
  try {
    return { out: record(await getMountSELinuxLabel(question, await kubeletManager(), fixedTranslator)) };
  } catch (error) {
    if (!isMultipleSELinuxLabels(error)) throw error;
    return { out: { ...record(error.info), multipleLabels: error.labels }, err: messageOf(error) };
  }
}

async function loadPod({ path, content }: Input): Promise<Answer> {
  const readText = async (name: string): Promise<string> => {
    if (content === undefined) throw new FileError("ENOENT", `open ${name}: no such file or directory`, name);
    return content;
  };
  const loaded = await answerOf(() => loadPodFromFile(path, { readText }, podFromText));
  if (loaded.err !== undefined) return loaded;
  const valid = await answerOf(() => validateRecyclerPodTemplate(loaded.out as Pod));
  return { out: loaded.out, err: valid.err };
}
