import type { TaskStore } from '../store/task-store.ts';
import type { AuthOptions } from '../server/auth/authenticator.ts';
import type { GrpcOptions } from '../server/grpc/grpc-options.ts';
import type { ServerLimits } from '../server/limits/limits.ts';
import type { CorsOptions, ExclusiveVersion } from '../server/server-options.ts';
import type { TrafficObserver } from '../server/telemetry/traffic-observer.ts';
import type { AdminAccess } from './admin/admin-access.ts';
import type { CardDraft } from './agent/card-draft.ts';
import type { TestClock } from './clock/test-clock.ts';
import type { JournalOptions } from './journal/journal.ts';
import type { ReplayOptions } from './replay/replay-agent.ts';

/** Options of {@link TestAgentServer}. All options are optional. */
export interface TestAgentOptions {
  /** @defaultValue 0, a free port */
  readonly port?: number;
  /** @defaultValue `127.0.0.1` */
  readonly host?: string;
  /** Content of a mock script, in YAML. */
  readonly script?: string;
  /** Path of a mock script. If `script` is set, the file is not read and only named in diagnostics. */
  readonly scriptFile?: string;
  /** Answers like a recorded agent, instead of scripts, directives and primed responses. */
  readonly replay?: ReplayOptions;
  /** Fields of the card; they override the script. */
  readonly card?: CardDraft;
  /** Authentication, with authenticators of `dragoman/server/auth`; overrides the script. */
  readonly auth?: AuthOptions;
  /** Path prefix of the agent, such as `/a2a`; the card is also served at the root. @defaultValue `''` */
  readonly basePath?: string;
  /** URL in the card. @defaultValue the `Host` header of the request plus `basePath` */
  readonly publicUrl?: string;
  /**
   * The system clock, a virtual clock that advances automatically when the process is idle, or a custom clock such as
   * a `VirtualClock` that is advanced by the test.
   * @defaultValue `clock` of the script, else `system`
   */
  readonly clock?: 'system' | 'virtual' | TestClock;
  /** Seed of all random values. @defaultValue `seed` of the script, else 0 */
  readonly seed?: number;
  /** Web pages of other origins that may call the agent. @defaultValue only its own origin */
  readonly cors?: CorsOptions;
  /** Host names that clients may use, besides local names and the host of `publicUrl`. */
  readonly allowedHosts?: readonly string[];
  /** Limits per client. */
  readonly limits?: ServerLimits;
  /** Accepts 1.0 methods without the `A2A-Version` header. @defaultValue false */
  readonly lenientVersion?: boolean;
  /** Supports only this protocol version. @defaultValue all versions */
  readonly onlyVersion?: ExclusiveVersion;
  /**
   * Serves gRPC of 1.0 and 0.3 on the same port and offers it in the card, unless there is a `basePath`.
   * @defaultValue true, unless the environment variable `DRAGOMAN_GRPC` is `0` or `false`
   */
  readonly grpc?: boolean | GrpcOptions;
  /** Milliseconds between SSE heartbeats. */
  readonly heartbeat?: number;
  /** Size limits of the journal. */
  readonly journal?: JournalOptions;
  /** @defaultValue a memory task store */
  readonly taskStore?: TaskStore;
  /** Generates ids of tasks, contexts and messages. @defaultValue UUIDs */
  readonly generateId?: () => string;
  /**
   * First event of a stream: the task, as A2A requires, or the first scripted event.
   * @defaultValue `'task'`; a scripted task event replaces the initial task
   */
  readonly streamStart?: 'task' | 'played';
  /** Observes every request and response before faults are injected. */
  readonly onTraffic?: TrafficObserver;
  /** Serves the admin API at `/__admin`. @defaultValue true */
  readonly admin?: boolean;
  /** IP addresses that may use the admin API in addition to the local host, or `'*'` for all. @defaultValue `[]` */
  readonly allowAdminFrom?: AdminAccess;
}
