/** Runs tasks one after another in the order they were asked for; a task that fails does not stop the next. Not re-entrant, like Go's. */
export class AsyncLock {
  private last: Promise<unknown> = Promise.resolve();

  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.last.then(task);
    this.last = result.catch(() => undefined);
    return result;
  }
}
