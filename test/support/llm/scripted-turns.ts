/** Waits until the call of the model is aborted. */
export const hang = Symbol('hang');

/** What a scripted model does: it writes text, calls a tool, fails, or waits until its call is aborted. */
type ModelAct = string | { readonly tool: string; readonly input: object } | Error | typeof hang;

/** One call of a model. A function gets the prompt as JSON. */
export type ModelTurn = readonly ModelAct[] | ((prompt: string) => readonly ModelAct[]);

/** Plays a script as the model of any LLM framework and records the prompts. */
export class ScriptedTurns {
  /** Prompts of all calls, as JSON. */
  readonly prompts: string[] = [];
  /** Resolves when a waiting call is aborted. */
  readonly aborted: Promise<void>;
  /** Resolves when a call starts to wait. */
  readonly hanging: Promise<void>;
  readonly #turns: ModelTurn[];
  #onAbort: () => void = () => {};
  #onHang: () => void = () => {};

  constructor(...turns: ModelTurn[]) {
    this.#turns = turns;
    this.aborted = new Promise((resolve) => {
      this.#onAbort = resolve;
    });
    this.hanging = new Promise((resolve) => {
      this.#onHang = resolve;
    });
  }

  /** Plays the next turn: yields texts and tool calls, and throws what the script throws. */
  async *play(
    prompt: unknown,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<string | { readonly id: string; readonly tool: string; readonly input: object }> {
    const text = JSON.stringify(prompt);
    this.prompts.push(text);
    const turn = this.#turns.shift();
    if (!turn) throw new Error('The script has no further turn');
    const acts = typeof turn === 'function' ? turn(text) : turn;
    for (const [index, act] of acts.entries()) {
      if (act instanceof Error) throw act;
      if (act === hang) {
        await this.#waitForAbort(signal);
        throw new DOMException('Aborted', 'AbortError');
      }
      yield typeof act === 'string' ? act : { id: `call-${this.prompts.length}-${index}`, ...act };
    }
  }

  async #waitForAbort(signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      if (!signal) throw new Error('The framework passed no signal to the model');
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve());
      this.#onHang();
    });
    this.#onAbort();
  }
}
