import type { TrafficRecord } from '../../../../../src/tap/traffic-record.ts';

/**
 * The participants, one column each, in order of appearance; a participant that calls an already known one is placed to
 * its left, so that requests point to the right. Filtering hides participants but never reorders them.
 */
export class Participants {
  #order: string[] = [];
  readonly #recordCounts = new Map<string, number>();
  readonly #shown = new Map<string, number>();
  #names: readonly string[] | undefined;
  #columns: ReadonlyMap<string, number> | undefined;

  /** Names of the visible participants, from left to right. */
  get names(): readonly string[] {
    this.#names ??= this.#order.filter((name) => this.#shown.has(name));
    return this.#names;
  }

  /** The column of a participant, from 0. */
  columnOf(name: string): number {
    this.#columns ??= new Map(this.names.map((each, index) => [each, index]));
    return this.#columns.get(name) ?? 0;
  }

  /** Adds the participants of a record. */
  add({ from, to, kind }: TrafficRecord): void {
    if (!this.#recordCounts.has(from)) {
      const called = kind === 'request' ? this.#order.indexOf(to) : -1;
      this.#order.splice(called < 0 ? this.#order.length : called, 0, from);
      this.#change();
    }
    if (!this.#recordCounts.has(to) && to !== from) {
      this.#order.push(to);
      this.#change();
    }
    for (const name of new Set([from, to])) this.#count(this.#recordCounts, name, 1);
  }

  /** Removes a record; a participant without records is removed. */
  remove({ from, to }: TrafficRecord): void {
    for (const name of new Set([from, to])) {
      this.#count(this.#recordCounts, name, -1);
      if (this.#recordCounts.has(name)) continue;
      this.#order = this.#order.filter((each) => each !== name);
      this.#change();
    }
  }

  /** Shows the participants of an added record. */
  show({ from, to }: TrafficRecord): void {
    for (const name of new Set([from, to])) this.#count(this.#shown, name, 1);
  }

  /** Hides the participants of a record, unless other records show them. */
  hide({ from, to }: TrafficRecord): void {
    for (const name of new Set([from, to])) this.#count(this.#shown, name, -1);
  }

  hideAll(): void {
    this.#shown.clear();
    this.#change();
  }

  #count(counts: Map<string, number>, name: string, by: number): void {
    const before = counts.get(name) ?? 0;
    if (before + by > 0) counts.set(name, before + by);
    else counts.delete(name);
    if (before === 0 || before + by <= 0) this.#change();
  }

  #change(): void {
    this.#names = undefined;
    this.#columns = undefined;
  }
}
