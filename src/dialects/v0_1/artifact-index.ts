const numbered = /^artifact-(0|[1-9]\d{0,5})$/;

/** The id of an artifact that 0.1 knows by its index only. */
export function artifactIdForIndex(index: number): string {
  return `artifact-${index}`;
}

/**
 * The numbers that the artifacts of one task have on the wire: an artifact that came with a number keeps it, any
 * other gets its place in the order of first sight.
 */
export class ArtifactIndex {
  #indexes = new Map<string, number>();
  /** The numbers that are given; kept once an artifact came with its own, because only then can two want the same. */
  #taken: Set<number> | undefined = undefined;

  /** The number of an artifact, given at first sight. */
  of(artifactId: string): number {
    const known = this.#indexes.get(artifactId);
    if (known !== undefined) return known;
    const own = numbered.exec(artifactId)?.[1];
    let index = own === undefined ? this.#indexes.size : Number(own);
    if (own !== undefined) this.#taken ??= new Set(this.#indexes.values());
    // An index that another artifact has already would make two artifacts one.
    while (this.#taken?.has(index)) index++;
    this.#indexes.set(artifactId, index);
    this.#taken?.add(index);
    return index;
  }
}
