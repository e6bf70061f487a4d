/** What is wrong with a strategic merge patch. `status` is the HTTP code a server answers with. */
export class PatchError extends Error {
  readonly code = "patch";

  constructor(
    message: string,
    readonly status: 400 | 422 | 500 = 500,
  ) {
    super(message);
  }
}

export const badPrimitiveList = (): PatchError => new PatchError("invalid patch format of primitive list", 400);
export const badRetainKeys = (): PatchError => new PatchError("invalid patch format of retainKeys", 400);
export const badElementOrder = (): PatchError => new PatchError("invalid patch format of setElementOrder list", 400);
export const listOfLists = (): PatchError => new PatchError("lists of lists are not supported", 422);
