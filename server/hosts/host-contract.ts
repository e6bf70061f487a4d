/** The contract of a host's ports: run against every adapter (memory/contract.test.ts, linux/contract.test.ts). */
import { blockToolsContract } from "./block-tools-contract";
import type { ContractFactory } from "./contract-kit";
import { deviceMountsContract } from "./device-mounts-contract";
import { execContract } from "./exec-contract";
import { filesContract } from "./files-contract";
import { mounterContract } from "./mounter-contract";

export function hostContract(factory: ContractFactory): void {
  filesContract(factory);
  mounterContract(factory);
  deviceMountsContract(factory);
  blockToolsContract(factory);
  execContract(factory);
}
