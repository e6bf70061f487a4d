/** `voldeck inspect` from its sources, for a run inside another mount namespace. */
import { runInspect } from "@/server/inspect";

process.exitCode = await runInspect(process.argv.slice(2));
