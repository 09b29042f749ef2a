const numbered = /^artifact-(0|[1-9]\d{0,5})$/;

/** Returns the id of an artifact that has only an index in 0.1. */
export function artifactIdForIndex(index: number): string {
  return `artifact-${index}`;
}

/**
 * Indexes of the artifacts of one task on the wire. An artifact received with an index retains it; others are numbered
 * in order.
 */
export class ArtifactIndex {
  #indexes = new Map<string, number>();
  /** Assigned indexes; used only if an artifact has its own index, because only then two can collide. */
  #taken: Set<number> | undefined = undefined;

  /** Returns the index of an artifact and assigns it at the first call. */
  of(artifactId: string): number {
    const assigned = this.#indexes.get(artifactId);
    if (assigned !== undefined) return assigned;
    const own = numbered.exec(artifactId)?.[1];
    let index = own === undefined ? this.#indexes.size : Number(own);
    if (own !== undefined) this.#taken ??= new Set(this.#indexes.values());
    // The same index would merge two artifacts.
    while (this.#taken?.has(index)) index++;
    this.#indexes.set(artifactId, index);
    this.#taken?.add(index);
    return index;
  }
}
