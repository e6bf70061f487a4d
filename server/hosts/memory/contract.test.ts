import { hostContract } from "@/server/hosts/host-contract";
import type { ContractHost, ProgramName } from "@/server/hosts/contract-kit";
import { fileError } from "@/server/hosts/file-errors";
import { createMemoryHost } from "@/server/hosts/memory";
import type { Program } from "@/server/hosts/memory";

const root = "/data/root";
const hang: Program = ({ options }) =>
  options.signal === undefined ? { timedOut: true, exitCode: undefined, signal: "SIGTERM" } : new Promise(() => undefined);

const programs: Readonly<Record<ProgramName, Program>> = {
  "echo-args": ({ args }) => args.map((each) => `${each}\n`).join(""),
  "exit-3": () => ({ exitCode: 3, output: "failing\n" }),
  noisy: () => "x".repeat(100_000),
  "both-streams": () => "out\nerr\n",
  where: ({ options }) => `${options.cwd ?? "/"}\n`,
  hang,
  stubborn: () => ({ timedOut: true, exitCode: undefined, signal: "SIGKILL" }),
  "stubborn-child": () => ({ timedOut: true, exitCode: undefined, signal: "SIGTERM" }),
  killed: () => ({ exitCode: undefined, signal: "SIGKILL" }),
  "leaves-daemon": () => "started\n",
  "reads-input": () => "end of input\n",
  "not-executable": ({ command }) => {
    throw fileError("fork/exec", command, "EACCES");
  },
};

async function create(): Promise<ContractHost> {
  const memory = createMemoryHost({
    rootDir: root,
    allowedPaths: [root],
    allowedDevices: ["/dev/contract0", "/dev/contract1"],
    files: { "/outside": { kind: "directory" } },
    programs: Object.fromEntries(Object.entries(programs).map(([name, program]) => [`/programs/${name}`, program])),
  });
  memory.blockTools.addDevice("/dev/foreign", { sizeBytes: 1n << 30n });
  const device = (path: string): { sizeBytes: bigint; hasForeignData: boolean } => {
    const found = memory.blockTools.devices.get(path);
    if (found === undefined) throw new Error(`no device ${path}`);
    return found;
  };
  let made = 0;
  return {
    root,
    allowedRoot: root,
    outside: "/outside",
    ports: memory.ports,
    mounter: memory.mounter,
    foreignDevice: async () => "/dev/foreign",
    program: (name) => `/programs/${name}`,
    putSpecial: async (path, kind) => memory.files.put(path, { kind }),
    makeDevice: async (sizeBytes) => {
      const path = `/dev/contract${made++}`;
      memory.blockTools.addDevice(path, { sizeBytes });
      return path;
    },
    growDevice: async (path, sizeBytes) => {
      device(path).sizeBytes = sizeBytes;
    },
    scribble: async (path) => {
      device(path).hasForeignData = true;
    },
    cleanUp: async () => undefined,
  };
}

hostContract({ name: "memory", create });
