/** Runs programs inside of a user and mount namespace: what a driver mounts there is what the pods' folders show. */
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { codeOf } from "@/lib/errors";
import { fileError } from "@/server/hosts/file-errors";
import type { Exec, ExecOptions, ExecResult } from "@/server/volume/ports";
import type { UserNamespace } from "./user-namespace";

export class NamespaceExec implements Exec {
  constructor(
    private readonly exec: Exec,
    private readonly namespace: UserNamespace,
  ) {}

  async run(command: string, args: readonly string[], options: ExecOptions): Promise<ExecResult> {
    // A tool of the machine, found by PATH, does the same on either side, and its being missing is told apart from its exit code.
    if (!command.includes("/")) return this.exec.run(command, args, options);
    await access(this.namespace.prefix + command, constants.X_OK).catch((error: unknown) => {
      throw fileError("fork/exec", command, codeOf(error) ?? "EIO");
    });
    const { cwd, ...rest } = options;
    const [nsenter = "nsenter", ...enter] = this.namespace.enter.filter((word) => word !== "--");
    const where = cwd === undefined ? [] : [`--wdns=${cwd}`];
    return this.exec.run(nsenter, [...enter, ...where, "--", command, ...args], rest);
  }
}
