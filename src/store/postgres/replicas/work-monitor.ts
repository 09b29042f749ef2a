import type { HoldDoubts } from './hold-doubts.ts';
import type { ReceivedCommand, TaskHolds } from './task-holds.ts';

/** Collaborators of {@link WorkMonitor}. */
interface WorkContext {
  epoch(): number;
  /** Returns false while this replica cannot do anything. */
  isActive(): boolean;
  /** Called if there are tasks to take over. */
  readonly onOrphans: () => void;
  /** Called with each command for a task that this replica holds. */
  readonly onCommand: (command: ReceivedCommand) => Promise<void>;
}

/** Looks for what other replicas left to this one: commands, and tasks of replicas that have ended. */
export class WorkMonitor {
  readonly #holds: TaskHolds;
  readonly #doubts: HoldDoubts;
  readonly #context: WorkContext;
  #isChecking = false;
  #isDue = false;

  constructor(holds: TaskHolds, doubts: HoldDoubts, context: WorkContext) {
    this.#holds = holds;
    this.#doubts = doubts;
    this.#context = context;
  }

  /** Checks now, or again after the current check. */
  async check(): Promise<void> {
    this.#isDue = true;
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      while (this.#isDue && this.#context.isActive()) {
        this.#isDue = false;
        await this.#checkOnce();
      }
    } catch {
      // The next check tries again.
    } finally {
      this.#isChecking = false;
    }
  }

  async #checkOnce(): Promise<void> {
    const { onOrphans, onCommand } = this.#context;
    const epoch = this.#context.epoch();
    const { hasCommands, hasOrphans } = await this.#holds.findWork(epoch);
    const isDoubtful = this.#doubts.check();
    if (isDoubtful) await this.#doubts.release(epoch);
    if (isDoubtful || hasOrphans) onOrphans();
    if (!hasCommands) return;
    for (const command of await this.#holds.takeCommands(epoch)) {
      try {
        await onCommand(command);
      } catch {
        // Another replica has become the holder; its sender tries again.
      }
    }
  }
}
