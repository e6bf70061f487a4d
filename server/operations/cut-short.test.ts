/** What the journal shows of an operation that was cut short: by a kill, a lost answer, or a journal that can't be written. */
import { describe, expect, it } from "vitest";
import { AppError } from "@/lib/errors";
import type { Journal } from "./journal";
import type { OperationPhase } from "./operation";
import { Operations } from "./operations";
import { input, options, setUp, type FakeCluster } from "./test-cluster";

const begunAgain = "Nothing was repeated. Start it again if it is still wanted";

/** Ends what runs at a named point, with all that stands in the journal by then. */
function killedAt(wanted: string): (name: string) => void {
  return (name) => {
    if (name === wanted) throw new Error(`killed at ${name}`);
  };
}

const asks = (size: string) => (cluster: FakeCluster) => void (cluster.claim.spec = { ...cluster.claim.spec, resources: { requests: { storage: size } } });
const madeAnew = (cluster: FakeCluster) => void (cluster.claim.metadata = { ...cluster.claim.metadata, uid: "another", resourceVersion: "9" });

describe("an operation that a kill cut short", () => {
  const unsent: { readonly name: string; readonly point: string; readonly meanwhile?: (cluster: FakeCluster) => void; readonly phases: OperationPhase[]; readonly sentence: string }[] = [
    { name: "before anything was read", point: "journal-after-intended", phases: ["intended", "ended"], sentence: "It was cut short before anything was sent" },
    { name: "before it was being sent", point: "journal-after-read", phases: ["intended", "read", "ended"], sentence: "It was cut short before anything was sent" },
    { name: "as it was being sent", point: "journal-after-sending", phases: ["intended", "read", "sending", "ended"], sentence: "Not known to have been sent: the object asks for 1Gi" },
    {
      name: "as it was being sent, and somebody asked for something else since",
      point: "journal-after-sending",
      meanwhile: asks("3Gi"),
      phases: ["intended", "read", "sending", "ended"],
      sentence: "Not known to have been sent: the object asks for 3Gi",
    },
    {
      name: "as it was being sent, and the claim was deleted since",
      point: "journal-after-sending",
      meanwhile: (cluster) => void (cluster.deleted = true),
      phases: ["intended", "read", "sending", "ended"],
      sentence: "Not known to have been sent: the object was deleted",
    },
    {
      name: "as it was being sent, and a claim of the same name asks for the target since",
      point: "journal-after-sending",
      meanwhile: (cluster) => {
        madeAnew(cluster);
        asks("2Gi")(cluster);
      },
      phases: ["intended", "read", "sending", "ended"],
      sentence: "Not known to have been sent: the object was deleted and made anew",
    },
  ];
  it.each(unsent)("$name is not known to have been sent, says why, and is not repeated", async ({ point, meanwhile, phases, sentence }) => {
    const { cluster, ports } = setUp();
    await expect(new Operations({ ...ports(), point: killedAt(point) }).expandClaim(input, options)).rejects.toThrow(`killed at ${point}`);
    meanwhile?.(cluster);
    const restarted = new Operations(ports());
    await restarted.followAll();
    expect(restarted.list("c")).toMatchObject([
      { phase: "ended", endedAt: "2026-01-01T00:00:00.000Z", from: "1Gi", to: "2Gi", progress: { status: "unknown", ended: true, sentence, steps: [], next: [begunAgain] } },
    ]);
    const entries = restarted.entries("op-1");
    expect(entries.map(({ phase }) => phase)).toEqual(phases);
    expect(entries.at(-1)?.note).toBe(sentence);
    expect(cluster.patches).toEqual([]);
  });

  it("after its request was obeyed is followed, and not sent again", async () => {
    const { cluster, ports } = setUp();
    await expect(new Operations({ ...ports(), point: killedAt("journal-after-answer") }).expandClaim(input, options)).rejects.toThrow("killed");
    const restarted = new Operations(ports());
    await restarted.followAll();
    expect(restarted.list("c")).toMatchObject([{ phase: "following" }]);
    expect(restarted.entries("op-1").map(({ note }) => note)).toContain("the object holds the target: it was sent");
    expect(cluster.patches).toHaveLength(1);
  });

  it("is unknown, not under way, as long as the object can't be read", async () => {
    const { cluster, ports } = setUp();
    await expect(new Operations({ ...ports(), point: killedAt("journal-after-sending") }).expandClaim(input, options)).rejects.toThrow("killed");
    cluster.unreadable = "transient";
    const restarted = new Operations(ports());
    await restarted.followAll();
    await restarted.followAll();
    const unsettled = { phase: "sending", progress: { status: "unknown", ended: false, sentence: "It may have been sent: its answer was lost, and the object can't be read now" } };
    expect(restarted.list("c")).toMatchObject([unsettled]);
    expect(restarted.entries("op-1").map(({ phase }) => phase)).toEqual(["intended", "read", "sending", "sending"]);
    cluster.unreadable = undefined;
    await restarted.followAll();
    expect(restarted.list("c")).toMatchObject([{ phase: "ended" }]);
  });

  it("may not be read any more: said as a failure, and settled when it may", async () => {
    const { cluster, ports } = setUp();
    cluster.answer = "lost after";
    cluster.onPatch = () => void (cluster.unreadable = "forbidden");
    const operations = new Operations(ports());
    expect(await operations.expandClaim(input, options)).toMatchObject({ phase: "sending" });
    await expect(operations.followAll()).rejects.toMatchObject({ code: "forbidden" });
    cluster.unreadable = undefined;
    await operations.followAll();
    expect(operations.list("c")).toMatchObject([{ phase: "following" }]);
  });
});

describe("a resize that a kill cut short as it was being sent", () => {
  it.each([
    { name: "is followed to its end when the pod asks for the target", uid: "p", to: "8Mi", expected: { phase: "ended", progress: { status: "ok" } } },
    { name: "is unknown when it asks for another size", uid: "p", to: "9Mi", expected: { phase: "ended", progress: { status: "unknown", sentence: "Not known to have been sent: the object asks for 8Mi" } } },
    { name: "is unknown when the pod was replaced", uid: "older", to: "8Mi", expected: { phase: "ended", progress: { status: "unknown", sentence: "Not known to have been sent: the object was deleted and made anew" } } },
  ])("$name", async ({ uid, to, expected }) => {
    const { ports } = setUp();
    const { journal } = ports();
    const progress = { status: "working", sentence: "Being sent", steps: [], ended: false, next: [] } as const;
    const subject = { namespace: "shop", name: "cache", uid, volume: "hot" };
    journal.begin({ id: "r", cluster: "c", verb: "resize-ephemeral", subject, from: "4Mi", to, who: "me", startedAt: "2026-01-01T00:00:00Z", phase: "sending", progress }, "");
    await new Operations(ports()).followAll();
    expect(journal.get("r")).toMatchObject(expected);
  });
});

describe("an operation on a claim that was made anew", () => {
  it("between reading and sending is refused by the server, and ends with its words", async () => {
    const { operations, cluster } = setUp();
    cluster.onPatch = () => madeAnew(cluster);
    await expect(operations.expandClaim(input, options)).rejects.toMatchObject({ code: "conflict" });
    expect(operations.list("c")).toMatchObject([{ phase: "ended", progress: { status: "failed", sentence: "Refused by the API server: the object has been modified" } }]);
    expect(cluster.patches).toEqual([]);
  });

  it("while it is followed ends, whatever the other claim holds", async () => {
    const { operations, cluster } = setUp();
    await operations.expandClaim(input, options);
    madeAnew(cluster);
    cluster.claim.status = { phase: "Bound", capacity: { storage: "2Gi" } };
    await operations.followAll();
    expect(operations.list("c")).toMatchObject([{ phase: "ended", progress: { status: "unknown", sentence: "The claim was deleted and made anew: this is another one" } }]);
  });
});

describe("an operation whose journal can't be written", () => {
  const full = "the journal of operations can't be written: database or disk is full";

  /** Writes as long as there is room: for so many lines. */
  function withRoomFor(journal: Journal, lines: number): Journal & { left: number } {
    const take = () => {
      if (limited.left === 0) throw new AppError("internal", full);
      limited.left -= 1;
    };
    const limited: Journal & { left: number } = {
      ...journal,
      left: lines,
      begin: (record, note) => {
        take();
        journal.begin(record, note);
      },
      write: (record, entry) => {
        take();
        journal.write(record, entry);
      },
    };
    return limited;
  }

  function started(lines: number) {
    const { cluster, ports } = setUp();
    const opened = ports();
    const journal = withRoomFor(opened.journal, lines);
    return { cluster, journal, operations: new Operations({ ...opened, journal }) };
  }

  it.each([
    { name: "its intent", lines: 0, left: [] },
    { name: "what it read", lines: 1, left: [{ phase: "ended", progress: { status: "unknown", sentence: "It was cut short before anything was sent" } }] },
    { name: "that it is sending", lines: 2, left: [{ phase: "ended", progress: { status: "unknown", sentence: "It was cut short before anything was sent" } }] },
  ])("at $name is not sent, and the person reads why", async ({ lines, left }) => {
    const { cluster, journal, operations } = started(lines);
    await expect(operations.expandClaim(input, options)).rejects.toMatchObject({ code: "precondition", message: `Nothing was sent: ${full}` });
    expect(cluster.patches).toEqual([]);
    journal.left = Infinity;
    await operations.followAll();
    expect(operations.list("c")).toMatchObject(left);
    expect(cluster.patches).toEqual([]);
  });

  it("at its answer was sent, and is followed when there is room again", async () => {
    const { cluster, journal, operations } = started(3);
    expect(await operations.expandClaim(input, options)).toMatchObject({ phase: "sending" });
    await expect(operations.followAll()).rejects.toThrow(full);
    journal.left = Infinity;
    await operations.followAll();
    expect(operations.list("c")).toMatchObject([{ phase: "following" }]);
    expect(cluster.patches).toHaveLength(1);
  });

  it("at its refusal is still refused with the server's words", async () => {
    const { cluster, operations } = started(3);
    cluster.answer = "refuse";
    await expect(operations.expandClaim(input, options)).rejects.toMatchObject({ code: "forbidden", message: "exceeded quota: q" });
    await expect(operations.followAll()).rejects.toThrow(full);
  });
});

describe("an operation whose clock is set back", () => {
  it("ends, stays the newest, and takes no time rather than less than none", async () => {
    const { operations, cluster, clock } = setUp();
    await operations.expandClaim(input, options);
    clock.nowMs -= 3_600_000;
    cluster.claim.status = { phase: "Bound", capacity: { storage: "2Gi" } };
    await operations.followAll();
    const later = await operations.expandClaim({ ...input, size: "3Gi" }, options);
    expect(operations.list("c")).toMatchObject([{ id: later.id }, { id: "op-1", phase: "ended", progress: { status: "ok" } }]);
    const ended = operations.get("op-1");
    expect(Date.parse(ended?.endedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(ended?.startedAt ?? ""));
  });
});

describe("the audit of a write", () => {
  const write = { who: "me", verb: "expand-claim", cluster: "c", object: "shop/data", before: "1Gi", after: "2Gi" };

  it.each([
    ["that was accepted", "ok", "accepted"],
    ["that was refused", "refuse", "refused: exceeded quota: q"],
    ["whose answer was lost after it was obeyed", "lost after", "answer lost: the object holds the target: it was sent"],
    ["whose answer was lost before it was", "lost before", "answer lost: Not known to have been sent: the object asks for 1Gi"],
  ] as const)("%s is one line", async (_what, answer, result) => {
    const { cluster, operations, audited } = setUp();
    cluster.answer = answer;
    await operations.expandClaim(input, options).catch(() => undefined);
    expect(audited).toEqual([{ ...write, result }]);
  });

  it("is made after a restart where the process ended before it knew the result", async () => {
    const { ports, audited } = setUp();
    await expect(new Operations({ ...ports(), point: killedAt("journal-after-sending") }).expandClaim(input, options)).rejects.toThrow("killed");
    expect(audited).toEqual([]);
    await new Operations(ports()).followAll();
    expect(audited).toEqual([{ ...write, result: "answer lost: Not known to have been sent: the object asks for 1Gi" }]);
  });
});
