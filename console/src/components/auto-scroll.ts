import { signal } from '@preact/signals';
import { createContext } from 'preact';

/** A scrollable element. */
interface ScrollBox {
  readonly scrollTop: number;
  readonly scrollHeight: number;
  readonly clientHeight: number;
}

/**
 * Keeps a growing element scrolled to its end until the user scrolls up. While content grows the element is briefly not
 * at its end, so only scrolling up ends auto-scrolling.
 */
export class AutoScroll {
  #top = 0;
  /** Height of the content when the position was last seen. */
  #height = 0;
  readonly #isAtEnd = signal(true);

  /** A signal: components that read it render again when it changes. */
  get isAtEnd(): boolean {
    return this.#isAtEnd.value;
  }

  set isAtEnd(isSo: boolean) {
    this.#isAtEnd.value = isSo;
  }

  /** Handles a scroll event of the element. */
  see({ scrollTop, scrollHeight, clientHeight }: ScrollBox, slack = 40): void {
    if (scrollTop + clientHeight >= scrollHeight - slack) this.isAtEnd = true;
    else if (scrollTop < this.#top - 1) this.isAtEnd = false;
    this.#top = scrollTop;
    this.#height = scrollHeight;
  }

  /** Scrolls a changed element to its end, unless the user scrolled up. */
  keep(box: ScrollBox & { scrollTop: number }): void {
    // The user may have scrolled since the last scroll event, which comes with the next frame only.
    if (this.#hasMovedUp(box)) this.isAtEnd = false;
    if (!this.#isAtEnd.peek()) return;
    box.scrollTop = box.scrollHeight;
    this.#top = box.scrollTop;
    this.#height = box.scrollHeight;
  }

  /** A shrunk element moves up to its new end without user input. */
  #hasMovedUp({ scrollTop, scrollHeight, clientHeight }: ScrollBox): boolean {
    const previousEnd = Math.min(this.#height, scrollHeight) - clientHeight;
    return scrollTop < this.#top - 1 && scrollTop < previousEnd - 1;
  }
}

/** The auto-scroller of the surrounding element, if any. */
export const AutoScrollContext = createContext<AutoScroll | undefined>(undefined);
