/**
 * The program of the child that makes file calls which may never return. It is text, run by `node -e`, so that it is there however the
 * server was bundled. It reads one JSON request a line and answers in the same order. Like the parent it walks to a path directory by
 * directory without following a link.
 */
export const foreignProgram = String.raw`
"use strict";
const fs = require("node:fs");
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
const O_PATH = 0o10000000;
const at = (fd, name) => "/proc/self/fd/" + fd + "/" + (name === "" ? "." : name);

function fail(code) { const error = new Error(code); error.code = code; throw error; }

function withPlace({ start, segments }, act) {
  let fd = fs.openSync(start, O_RDONLY | O_DIRECTORY);
  try {
    for (const name of segments.slice(0, -1)) {
      const next = fs.openSync(at(fd, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      fs.closeSync(fd);
      fd = next;
    }
    const name = segments.length === 0 ? "" : segments[segments.length - 1];
    return act(at(fd, name));
  } finally {
    fs.closeSync(fd);
  }
}

function withFile(path, flags, act) {
  const fd = fs.openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try { return act(fd, "/proc/self/fd/" + fd); } finally { fs.closeSync(fd); }
}

function notALink(path) { if (fs.lstatSync(path).isSymbolicLink()) fail("ELOOP"); return path; }

const calls = {
  lstat: (path) => {
    const stat = fs.lstatSync(path, { bigint: true });
    return Object.fromEntries(["mode", "uid", "gid", "size", "mtimeMs", "dev", "rdev", "ino"].map((key) => [key, String(stat[key])]));
  },
  readDir: (path) => withFile(notALink(path), O_RDONLY | O_DIRECTORY, (fd, self) =>
    fs.readdirSync(self).map((name) => ({ name, mode: fs.lstatSync(self + "/" + name).mode }))),
  readFile: (path) => withFile(path, O_RDONLY, (fd) => {
    const stat = fs.fstatSync(fd);
    if (stat.isDirectory()) fail("EISDIR");
    if (!stat.isFile()) fail("ENXIO");
    return fs.readFileSync(fd).toString("base64");
  }),
  readLink: (path) => fs.readlinkSync(path),
  writeFile: (path, { data, mode }) => withFile(path, O_WRONLY | O_CREAT, (fd) => {
    if (!fs.fstatSync(fd).isFile()) fail("ENXIO");
    fs.fchmodSync(fd, mode);
    fs.ftruncateSync(fd, 0);
    fs.writeFileSync(fd, Buffer.from(data, "base64"));
  }),
  createFile: (path, { mode }) => withFile(path, O_WRONLY | O_CREAT | O_EXCL, (fd) => fs.fchmodSync(fd, mode)),
  mkdir: (path, { mode }) => { fs.mkdirSync(path, mode); fs.chmodSync(path, mode); },
  chmod: (path, { mode }) => withFile(notALink(path), O_PATH, (fd, self) => fs.chmodSync(self, mode)),
  chown: (path, { uid, gid }) => fs.lchownSync(path, uid, gid),
  symlink: (path, { target }) => fs.symlinkSync(target, path),
  rename: (path, { to }) => withPlace(to, (target) => fs.renameSync(path, target)),
  unlink: (path) => fs.unlinkSync(path),
  rmdir: (path) => fs.rmdirSync(path),
  statfs: (path) => withFile(path, O_PATH, (fd, self) => {
    const stat = fs.statfsSync(self, { bigint: true });
    return Object.fromEntries(["type", "bsize", "blocks", "bfree", "bavail", "files", "ffree"].map((key) => [key, String(stat[key])]));
  }),
};

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    let answer;
    try {
      const { place, call, args } = JSON.parse(line);
      answer = { value: withPlace(place, (path) => calls[call](path, args)) };
    } catch (error) {
      answer = { code: error.code || "EIO", message: String(error.message) };
    }
    process.stdout.write(JSON.stringify(answer) + "\n");
  }
});
`;
