import { isJsonObject } from '../../primitives/json.ts';

/** Members of the model that hold ids. */
const idMembers = new Set(['id', 'taskId', 'contextId', 'messageId', 'referenceTaskIds']);

/** Members with content of users, in which a short id may be any text. */
const contentMembers = new Set(['data', 'metadata', 'text', 'raw', 'url']);

/** Minimum length of an id that is also replaced inside of texts. */
const minDistinctiveLength = 16;

/** Replaces recorded ids by those of a replay, in id members and, if they are long, in texts. */
export class ReplayedIds {
  readonly #replayed = new Map<string, string>();

  set(recorded: string | undefined, replayed: string): void {
    if (recorded !== undefined && recorded !== '' && recorded !== replayed)
      this.#replayed.set(recorded, replayed);
  }

  /** Returns a copy with the ids of the replay. */
  apply<T>(value: T): T {
    return this.#replayed.size === 0 ? value : (this.#map(value, false) as T);
  }

  #map(value: unknown, isId: boolean): unknown {
    if (typeof value === 'string') return isId ? (this.#replayed.get(value) ?? value) : this.#mapText(value);
    if (Array.isArray(value)) return value.map((each: unknown) => this.#map(each, isId));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        key,
        contentMembers.has(key) ? this.#mapContent(each) : this.#map(each, idMembers.has(key)),
      ]),
    );
  }

  #mapContent(value: unknown): unknown {
    if (typeof value === 'string') return this.#mapText(value);
    if (Array.isArray(value)) return value.map((each: unknown) => this.#mapContent(each));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#mapContent(each)]));
  }

  #mapText(text: string): string {
    let mapped = text;
    for (const [recorded, replayed] of this.#replayed)
      if (recorded.length >= minDistinctiveLength) mapped = mapped.replaceAll(recorded, replayed);
    return mapped;
  }
}
