import { createLoadPlan, type LoadPlan } from '../../load/load-plan.ts';
import { checkLoopbackTarget, openLoadTarget } from '../../load/load-target.ts';
import { runLoad } from '../../load/run-load.ts';
import { A2AError } from '../../protocol/errors.ts';
import { type ConsoleAgent, errorText } from '../agents/console-agent.ts';
import type { LoadRunEvent, LoadRunInput } from '../console-api.ts';
import { RunEvents } from '../run-events.ts';

/** A run in progress. */
interface CurrentRun {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/**
 * Load runs of the page, one at a time. A run belongs to the server: it continues when the page is closed or reloaded,
 * and its events are kept until the next run. They are bounded by the time limit of a run, because there is one event
 * per second.
 */
export class LoadRuns {
  readonly events = new RunEvents<LoadRunEvent>();
  #current: CurrentRun | undefined = undefined;
  readonly #onTask: (id: string) => void;

  /** @param onTask - called with the ID of each task that a run creates. */
  constructor(onTask: (id: string) => void) {
    this.#onTask = onTask;
  }

  /** Starts a run. @throws {@link A2AError} `CONFLICT` during another run, `INVALID_PARAMS` for other hosts */
  start(agent: ConsoleAgent, input: LoadRunInput): void {
    const plan = createLoadPlan(input);
    checkLoopbackTarget(agent.info.url);
    if (this.#current)
      throw new A2AError('CONFLICT', 'A load run is already in progress', {
        hint: 'Wait until it ends, or stop it.',
      });
    const { name = agent.info.url } = agent;
    this.events.startRun({
      kind: 'started',
      agentId: input.agentId,
      agentName: name,
      startedAt: Date.now(),
      plan,
    });
    const stop = new AbortController();
    const ended = this.#run(agent, plan, input, stop.signal).finally(() => {
      this.#current = undefined;
    });
    this.#current = { stop, ended };
  }

  /** Ends the run early with its report; does nothing if there is none. */
  async stop(): Promise<void> {
    this.#current?.stop.abort();
    await this.#current?.ended;
  }

  /** Never rejects. */
  async #run(
    agent: ConsoleAgent,
    plan: LoadPlan,
    { text, variant }: LoadRunInput,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const { url, credentials } = agent.info;
      const target = await openLoadTarget(url, {
        ...plan,
        text,
        signal,
        onTask: this.#onTask,
        client: {
          ...(credentials && { auth: credentials }),
          ...(variant && { versions: [variant.version], transports: [variant.transport] }),
        },
      });
      try {
        const { version, transport } = target.description;
        this.events.add({ kind: 'connected', variant: { version, transport } });
        const onProgress = (progress: Extract<LoadRunEvent, { kind: 'progress' }>['progress']): void =>
          this.events.add({ kind: 'progress', at: Date.now(), progress });
        this.events.add({
          kind: 'report',
          report: await runLoad(plan, target.perform, { signal, onProgress }),
        });
      } finally {
        await target.close();
      }
    } catch (thrown) {
      this.events.add({ kind: 'error', reason: A2AError.from(thrown).reason, message: errorText(thrown) });
    }
  }
}
