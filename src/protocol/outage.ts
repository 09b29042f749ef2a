import type { A2AError } from './errors.ts';

/** A period in which an agent or a task store cannot serve calls. */
export interface Outage {
  /** The error of calls during the outage. */
  readonly error: A2AError;
  /** Resolves when calls may succeed again; undefined if that requires a restart. */
  readonly ended: PromiseLike<void> | undefined;
}

const outageErrors = new WeakSet<A2AError>();

/** Marks an error as the rejection of a call during an outage, before the call had any effect. */
export function markOutageError(error: A2AError): A2AError {
  outageErrors.add(error);
  return error;
}

/** Returns true if a call was rejected because of an outage, so that it can be repeated when the outage has ended. */
export function isOutageError(error: unknown): boolean {
  return outageErrors.has(error as A2AError);
}

/** @throws the error of an outage, if there is one. */
export function throwOutage(outage: Outage | undefined): void {
  if (outage) throw outage.error;
}

/** Tracks the current outage of a component. */
export class OutageTracker {
  #current: Outage | undefined = undefined;
  #resolve: (() => void) | undefined = undefined;

  /** The current outage, if there is one. */
  get current(): Outage | undefined {
    return this.#current;
  }

  /** Starts an outage. @returns false if there already was one. */
  begin(error: A2AError): boolean {
    if (this.#current) return false;
    const ended = new Promise<void>((resolve) => (this.#resolve = resolve));
    this.#current = { error: markOutageError(error), ended };
    return true;
  }

  /** Ends the outage. @returns false if there was none. */
  end(): boolean {
    if (!this.#current) return false;
    this.#current = undefined;
    this.#resolve?.();
    return true;
  }
}
