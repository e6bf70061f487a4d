import type { Adapter } from "@/e2e/goldens/adapter";
import {
  FakeRecord,
  fakePlugin,
  fakeProber,
  instanceOf,
  namedHost,
  stillPorts,
  type FakePluginInput,
  type FakeProberInput,
} from "@/e2e/goldens/fake-plugin";
import { messageOf } from "@/lib/errors";
import { VolumePluginManager } from "@/server/volume/plugin-manager";

interface Call {
  readonly plugins: readonly FakePluginInput[];
  readonly prober: FakeProberInput | null;
  readonly host: string | null;
}

interface Input {
  readonly calls?: readonly Call[];
  readonly lookupNames?: readonly string[];
}

export const adapter: Adapter = {
  async answer(line) {
    const input: Input = line.in;
    const manager = new VolumePluginManager(stillPorts);
    const calls: unknown[] = [];
    for (const call of input.calls ?? []) calls.push(await initialise(manager, call, input.lookupNames ?? []));
    return { out: { calls } };
  },
};

async function initialise(manager: VolumePluginManager, call: Call, lookupNames: readonly string[]): Promise<unknown> {
  const record = new FakeRecord();
  const host = call.host === null ? undefined : namedHost(call.host);
  const error = await manager
    .initPlugins(
      call.plugins.map((plugin) => fakePlugin(plugin, record)),
      call.prober ? fakeProber(call.prober, record) : undefined,
      host,
    )
    .then(() => undefined, (failure: unknown) => failure);
  const { inits, probes, proberInits } = record.take();
  return {
    ...(error !== undefined && { err: messageOf(error), errors: errorsOf(error).map(messageOf) }),
    inits: inits.map(({ inst, host: node }) => ({ inst, host: node })),
    ...(call.prober && { probes, proberInits }),
    managerHost: manager.host?.getNodeName() ?? null,
    lookup: await lookUp(manager, lookupNames),
  };
}

function errorsOf(error: unknown): readonly unknown[] {
  return typeof error === "object" && error !== null && "errors" in error && Array.isArray(error.errors) ? error.errors : [error];
}

async function lookUp(manager: VolumePluginManager, names: readonly string[]): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const name of names) {
    found[name] = await manager.findPluginByName(name).then(
      (plugin) => ({ out: instanceOf(plugin) }),
      (error: unknown) => ({ err: messageOf(error) }),
    );
  }
  return found;
}
