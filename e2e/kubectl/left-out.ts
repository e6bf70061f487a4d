/** The one list of what the controllers of a whole cluster write and kubectl prints: there are none beside the embedded server. */

export interface LeftOut {
  readonly what: string;
  readonly reason: string;
  /** The command lines that print it. */
  readonly of: RegExp;
  readonly pattern: RegExp;
  readonly word: string;
}

export const leftOut: readonly LeftOut[] = [
  {
    what: "the phase of a PersistentVolume",
    reason: "the volume controller moves it from Pending to Available at once",
    of: /^(get|describe) pv /u,
    pattern: /\b(Pending|Available)\b/gu,
    word: "PHASE",
  },
  {
    what: "a node's taints",
    reason: "admission puts not-ready on a new node, and the node lifecycle controller puts others in its place",
    of: /^describe node /u,
    pattern: /^Taints:.*\n(?:\s.*\n)*/mu,
    word: "",
  },
  {
    what: "a node's events",
    reason: "the node lifecycle controller tells of a new node some seconds later",
    of: /^describe node /u,
    pattern: /^Events:[\s\S]*$/mu,
    word: "",
  },
];

export function withoutLeftOut(args: string, text: string): string {
  return leftOut.filter(({ of }) => of.test(args)).reduce((result, { pattern, word }) => result.replace(pattern, word), text);
}
