/** What is killed: the whole server in one file, so that a start takes no time for loading. */
import { main } from "@/server/main";

await main(process.argv.slice(2), ".");
