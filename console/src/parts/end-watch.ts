/** What is looked at: a box that scrolls. */
interface ScrollBox {
  readonly scrollTop: number;
  readonly scrollHeight: number;
  readonly clientHeight: number;
}

/**
 * Knows whether somebody wants to stay at the end of a box that grows. A box that grows while it scrolls is not at its
 * end for a moment, so only who scrolls up leaves the end.
 */
export class EndWatch {
  #top = 0;
  isAtEnd = true;

  /** Looks at the box after it was scrolled, by whomever. */
  see({ scrollTop, scrollHeight, clientHeight }: ScrollBox, slack = 40): void {
    if (scrollTop + clientHeight >= scrollHeight - slack) this.isAtEnd = true;
    else if (scrollTop < this.#top - 1) this.isAtEnd = false;
    this.#top = scrollTop;
  }
}
