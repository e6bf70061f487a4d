/** The Exec port: one suite for every adapter. */
import { describe, expect } from "vitest";
import { casesOf } from "./contract-kit";
import type { Case, ContractFactory } from "./contract-kit";

const limits = { timeoutMs: 10_000 };

export function execContract(factory: ContractFactory): void {
  describe(`exec of ${factory.name}`, () => {
    const test = casesOf("exec", factory, undefined);
    resultCases(test);
    limitCases(test);
  });
}

function resultCases(test: Case): void {
  test("a program that ends well", async ({ program, ports: { exec } }) => {
    expect(await exec.run(program("echo-args"), ["a"], limits)).toEqual({
      exitCode: 0,
      signal: undefined,
      output: "a\n",
      timedOut: false,
      truncated: false,
    });
  });

  test("arguments arrive as they are, through no shell", async ({ program, ports: { exec } }) => {
    const args = ["a b", "$HOME", "`id`", "*", "; ls", "ü€", "'\""];
    expect((await exec.run(program("echo-args"), args, limits)).output).toBe(args.map((each) => `${each}\n`).join(""));
  });

  test("an empty argument is an argument", async ({ program, ports: { exec } }) => {
    expect((await exec.run(program("echo-args"), ["", "x"], limits)).output).toBe("\nx\n");
  });

  test("no arguments", async ({ program, ports: { exec } }) => {
    expect((await exec.run(program("echo-args"), [], limits)).output).toBe("");
  });

  test("an exit code is a result", async ({ program, ports: { exec } }) => {
    expect(await exec.run(program("exit-3"), [], limits)).toMatchObject({ exitCode: 3, output: "failing\n" });
  });

  test("both streams are kept", async ({ program, ports: { exec } }) => {
    const { output } = await exec.run(program("both-streams"), [], limits);
    expect(output.split("\n").filter(Boolean).sort()).toEqual(["err", "out"]);
  });

  test("an end by a signal", async ({ program, ports: { exec } }) => {
    expect(await exec.run(program("killed"), [], limits)).toMatchObject({ exitCode: undefined, signal: "SIGKILL", timedOut: false });
  });

  test("the folder asked for is where it runs", async ({ root, program, ports: { exec } }) => {
    expect((await exec.run(program("where"), [], { ...limits, cwd: root })).output).toBe(`${root}\n`);
  });

  test("there is nothing to read", async ({ program, ports: { exec } }) => {
    expect((await exec.run(program("reads-input"), [], limits)).output).toBe("end of input\n");
  });

  test("a program left in the background does not hold up the answer", async ({ program, ports: { exec } }) => {
    expect(await exec.run(program("leaves-daemon"), [], limits)).toMatchObject({ exitCode: 0, output: "started\n", timedOut: false });
  });

  test("a path where nothing is", async ({ root, ports: { exec } }) => {
    await expect(exec.run(`${root}/none`, [], limits)).rejects.toMatchObject({
      code: "ENOENT",
      message: `fork/exec ${root}/none: no such file or directory`,
    });
  });

  test("a name that no folder of PATH has", async ({ ports: { exec } }) => {
    await expect(exec.run("voldeck-no-such-tool", [], limits)).rejects.toMatchObject({
      code: "ENOENT",
      message: 'exec: "voldeck-no-such-tool": executable file not found in $PATH',
    });
  });

  test("a file that may not be run", async ({ program, ports: { exec } }) => {
    await expect(exec.run(program("not-executable"), [], limits)).rejects.toMatchObject({ code: "EACCES" });
  });
}

function limitCases(test: Case): void {
  test("output is cut at its limit", async ({ program, ports: { exec } }) => {
    const result = await exec.run(program("noisy"), [], { ...limits, maxOutputBytes: 1000 });
    expect(result).toMatchObject({ exitCode: 0, truncated: true, output: "x".repeat(1000) });
  });

  test("output below the limit is whole", async ({ program, ports: { exec } }) => {
    const result = await exec.run(program("noisy"), [], { ...limits, maxOutputBytes: 200_000 });
    expect(result.truncated).toBe(false);
    expect(result.output).toHaveLength(100_000);
  });

  test("a program that hangs is ended", async ({ program, ports: { exec } }) => {
    expect(await exec.run(program("hang"), [], { timeoutMs: 50 })).toMatchObject({ exitCode: undefined, timedOut: true });
  });

  test("a program that ignores the polite signal is ended with its children", async ({ program, ports: { exec } }) => {
    expect(await exec.run(program("stubborn"), [], { timeoutMs: 50 })).toMatchObject({ exitCode: undefined, timedOut: true, signal: "SIGKILL" });
  });

  test("a program that ends politely is ended with its children that do not", async ({ program, ports: { exec } }) => {
    expect(await exec.run(program("stubborn-child"), [], { timeoutMs: 50 })).toMatchObject({ exitCode: undefined, timedOut: true, signal: "SIGTERM" });
  });

  test("a cancel ends the program", async ({ program, ports: { exec } }) => {
    const stop = new AbortController();
    const running = exec.run(program("hang"), [], { ...limits, signal: stop.signal });
    stop.abort();
    await expect(running).rejects.toMatchObject({ code: "ABORT_ERR" });
  });

  test("after a cancel nothing starts", async ({ program, ports: { exec } }) => {
    await expect(exec.run(program("echo-args"), [], { ...limits, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORT_ERR" });
  });

  test("many at once do not mix", async ({ program, ports: { exec } }) => {
    const results = await Promise.all(["a", "b", "c", "d", "e"].map((each) => exec.run(program("echo-args"), [each], limits)));
    expect(results.map((result) => result.output)).toEqual(["a\n", "b\n", "c\n", "d\n", "e\n"]);
  });
}
