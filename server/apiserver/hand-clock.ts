/** For tests: moves only when told. */
export class HandClock {
  private at = 0;
  private sleepers: { untilMs: number; wake: () => void }[] = [];

  nowMs(): number {
    return this.at;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((wake) => this.sleepers.push({ untilMs: this.at + ms, wake }));
  }

  /** What sleeps in this moment, in ms from now. */
  get naps(): number[] {
    return this.sleepers.map(({ untilMs }) => untilMs - this.at);
  }

  advance(ms: number): void {
    this.at += ms;
    const due = this.sleepers.filter(({ untilMs }) => untilMs <= this.at);
    this.sleepers = this.sleepers.filter((sleeper) => !due.includes(sleeper));
    for (const { wake } of due) wake();
  }
}
