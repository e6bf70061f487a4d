/** FlexVolume drivers that a test installs, changes and removes while the app runs, as a person would with a file manager. */
import { chmod, mkdir, rename, rmdir, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

const mounts = `#!/bin/sh
grep -q " $2 " /proc/self/mountinfo && there=yes
case $1 in
init) echo '{"status":"Success","capabilities":{"attach":false}}' ;;
mount) [ "$there" ] || { mkdir -p "$2" && mount -t tmpfs -o size=1m tmpfs "$2"; } && echo '{"status":"Success"}' ;;
unmount) [ -z "$there" ] || umount "$2" && echo '{"status":"Success"}' ;;
*) echo '{"status":"Not supported"}'; exit 1 ;;
esac
`;

/** What a driver answers to `init`: a driver that works mounts a small tmpfs. */
export type DriverHealth = { readonly works: true } | { readonly works: false; readonly why: string };

function programOf(health: DriverHealth): string {
  return health.works ? mounts : `#!/bin/sh\necho '${JSON.stringify({ status: "Failure", message: health.why })}'\nexit 1\n`;
}

/** A driver `VENDOR/NAME` in the data folder of a running app. */
export class FlexDriver {
  private readonly folder: string;
  private readonly program: string;

  constructor(dataFolder: string, driver: string) {
    const name = driver.slice(driver.indexOf("/") + 1);
    this.folder = join(dataFolder, "flexvolume", driver.replace("/", "~"));
    this.program = join(this.folder, name);
  }

  /** Installs it, or puts another program in the place of the old one: whole at once, as a careful installer does. */
  async put(health: DriverHealth): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o755 });
    const next = join(this.folder, `.${Date.now()}`);
    await writeFile(next, programOf(health));
    await chmod(next, 0o755);
    await rename(next, this.program);
  }

  async remove(): Promise<void> {
    await unlink(this.program);
    await rmdir(this.folder);
  }
}
