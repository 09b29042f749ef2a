import type { TaskStore } from '../store/task-store.ts';
import type { AuthOptions } from '../server/auth/authenticator.ts';
import type { ServerLimits } from '../server/limits/limits.ts';
import type { ExclusiveVersion } from '../server/server-options.ts';
import type { TrafficObserver } from '../server/telemetry/traffic-observer.ts';
import type { AdminAccess } from './admin/admin-access.ts';
import type { CardDraft } from './agent/card-draft.ts';
import type { TestClock } from './clock/test-clock.ts';
import type { JournalOptions } from './journal/journal.ts';

/** How a test agent is set up. */
export interface TestAgentOptions {
  /** @defaultValue 0, any free port */
  readonly port?: number;
  /** @defaultValue `127.0.0.1` */
  readonly host?: string;
  /** The text of a script, in YAML. */
  readonly script?: string;
  /** The file of a script, unless its text is given: then this is what complaints call it. */
  readonly scriptFile?: string;
  /** What the card says; it wins over what a script says. */
  readonly card?: CardDraft;
  /** Who is let in, with the ways of `dragoman/server/auth`; it wins over what a script says. */
  readonly auth?: AuthOptions;
  /** The path that the agent is served below, such as `/a2a`; the card stays at the root as well. @defaultValue `''` */
  readonly basePath?: string;
  /** The address that the card gives. @defaultValue what the caller's `Host` header says, and the base path */
  readonly publicUrl?: string;
  /**
   * What the time is: that of the machine, a virtual one that goes on by itself whenever everything waits, or one of
   * your own, such as a `VirtualClock` that goes on when it is told to.
   * @defaultValue as the script says, else `system`
   */
  readonly clock?: 'system' | 'virtual' | TestClock;
  /** What chance begins with. @defaultValue as the script says, else 0 */
  readonly seed?: number;
  /** How much one caller may take. */
  readonly limits?: ServerLimits;
  /** Lets methods of 1.0 pass without their `A2A-Version` header. @defaultValue false */
  readonly lenientVersion?: boolean;
  /** Speaks this version alone. @defaultValue every version */
  readonly onlyVersion?: ExclusiveVersion;
  readonly heartbeat?: number;
  /** How much of what passes is kept. */
  readonly journal?: JournalOptions;
  /** Where tasks are kept. @defaultValue in memory */
  readonly taskStore?: TaskStore;
  /** Makes ids of tasks, contexts and messages. @defaultValue UUIDs */
  readonly generateId?: () => string;
  /**
   * How a stream begins: with the task, as the protocol wants it, or with nothing but what is played.
   * @defaultValue `'task'`; a stream whose first played event is a task begins with that one
   */
  readonly streamStart?: 'task' | 'played';
  /** Sees every request and every answer word for word, before any fault. @defaultValue nobody watches */
  readonly onTraffic?: TrafficObserver;
  /** Shows the admin API below `/__admin`. @defaultValue true */
  readonly admin?: boolean;
  /** Who may use the admin API beside this machine: addresses, or `'*'` for everybody. @defaultValue nobody */
  readonly allowAdminFrom?: AdminAccess;
}
