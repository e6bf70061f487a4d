import { describe, expect, it } from "vitest";
import { defaultPort, parseOptions } from "./options";

describe("parseOptions", () => {
  it.each([
    { name: "nothing given", args: [], env: { HOME: "/home/a" }, port: defaultPort, listen: "127.0.0.1", dataFolder: "/home/a/.voldeck" },
    { name: "variables", args: [], env: { HOME: "/h", PORT: "81", VOLDECK_LISTEN: "::1", VOLDECK_HOME: "/d" }, port: 81, listen: "::1", dataFolder: "/d" },
    { name: "flags win over variables", args: ["--port", "0", "--listen", "127.0.0.2", "--data", "/e"], env: { HOME: "/h", PORT: "81", VOLDECK_LISTEN: "::1", VOLDECK_HOME: "/d" }, port: 0, listen: "127.0.0.2", dataFolder: "/e" },
    { name: "HOST is not read", args: [], env: { HOME: "/h", HOST: "0.0.0.0" }, port: defaultPort, listen: "127.0.0.1", dataFolder: "/h/.voldeck" },
    { name: "an empty variable counts as none", args: [], env: { HOME: "/h", PORT: "" }, port: defaultPort, listen: "127.0.0.1", dataFolder: "/h/.voldeck" },
  ])("$name", ({ name: _name, args, env, ...expected }) => {
    expect(parseOptions(args, env)).toMatchObject(expected);
  });

  it.each([
    { name: "are served unless told otherwise", args: [], pages: true },
    { name: "are left out on --no-pages", args: ["--no-pages"], pages: false },
  ])("pages $name", ({ args, pages }) => {
    expect(parseOptions(args, { HOME: "/h" }).pages).toBe(pages);
  });

  it("takes block devices and NFS exports for --allow-device", () => {
    const given = ["/dev/../dev/sdb", "srv.example:/export/a", "127.0.0.1:/x", "[::1]:/x"];
    const args = given.flatMap((text) => ["--allow-device", text]);
    expect(parseOptions(args, { HOME: "/h" }).allowDevices).toEqual(["/dev/sdb", ...given.slice(1)]);
  });

  it.each([
    { name: "a port that is no number names its flag", args: ["--port", "http"], env: {}, message: '--port: "http" is not a port (0 to 65535)' },
    { name: "a port variable beyond the range", args: [], env: { PORT: "70000" }, message: 'PORT: "70000" is not a port (0 to 65535)' },
    { name: "a host name to listen on", args: ["--listen", "example.org"], env: {}, message: '--listen: "example.org" is not an IP address' },
    { name: "a relative path", args: ["--allow-path", "data"], env: {}, message: '--allow-path: "data" is not an absolute path' },
    { name: "a device that is neither a path nor an export", args: ["--allow-device", "sda"], env: {}, message: '--allow-device: "sda" is neither an absolute path nor an export (server:/path)' },
    { name: "an export of no path", args: ["--allow-device", "srv:export"], env: {}, message: /is neither/ },
    { name: "an export that would be an option", args: ["--allow-device", "-o:/x"], env: {}, message: /-o|ambiguous/ },
    { name: "an unknown flag", args: ["--prot", "1"], env: {}, message: /--prot/ },
    { name: "a stray word", args: ["stray"], env: {}, message: /stray/ },
  ])("refuses $name", ({ args, env, message }) => {
    expect(() => parseOptions(args, env)).toThrow(message);
  });
});
