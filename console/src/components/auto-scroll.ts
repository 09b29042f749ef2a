import { signal } from '@preact/signals';
import { createContext } from 'preact';

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
export class AutoScroll {
  #top = 0;
  readonly #isAtEnd = signal(true);

  /** Whoever reads it while a part is drawn, draws it again when it changes. */
  get isAtEnd(): boolean {
    return this.#isAtEnd.value;
  }

  set isAtEnd(isSo: boolean) {
    this.#isAtEnd.value = isSo;
  }

  /** Looks at the box after it was scrolled, by whomever. */
  see({ scrollTop, scrollHeight, clientHeight }: ScrollBox, slack = 40): void {
    if (scrollTop + clientHeight >= scrollHeight - slack) this.isAtEnd = true;
    else if (scrollTop < this.#top - 1) this.isAtEnd = false;
    this.#top = scrollTop;
  }

  /** Brings a box that has changed to its end, unless somebody left it. */
  keep(box: { scrollTop: number; readonly scrollHeight: number }): void {
    if (!this.#isAtEnd.peek()) return;
    box.scrollTop = box.scrollHeight;
    // What became shorter has moved up by itself, and nobody scrolled.
    this.#top = box.scrollTop;
  }
}

/** The end of the box that a part stands in, where somebody watches it. */
export const AutoScrollContext = createContext<AutoScroll | undefined>(undefined);
