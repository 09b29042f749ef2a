import type { Part } from '../../../protocol/part.ts';
import type { Artifact, Task, TaskStatus } from '../../../protocol/task.ts';
import type { Metadata } from '../../../protocol/part.ts';
import type { ArtifactStore } from '../../../artifacts/artifact-store.ts';
import type { Scenario } from '../files/read-scenarios.ts';

/** What came out at the caller's side, and when: milliseconds since the request. */
export type GatewayEvent = { readonly at: number } & (
  | {
      readonly type: 'status_update';
      readonly status: TaskStatus;
      readonly isFinal: boolean;
      readonly metadata?: Metadata;
    }
  | {
      readonly type: 'artifact_update';
      /** Links to files that we keep are resolved. */
      readonly artifact: Artifact;
      /** The parts as they arrived. */
      readonly received: readonly Part[];
    }
  | { readonly type: 'final_response'; readonly task: Task }
  | { readonly type: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
);

/** A request that reached the test agent. */
export interface DownstreamRequest {
  readonly at: number;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly apiKey: string | undefined;
  /** What it asked; undefined where the test agent was told to answer without looking at it. */
  readonly body: unknown;
}

/** A request for a token. */
export interface TokenRequest {
  readonly at: number;
  readonly url: string;
  readonly body: string;
}

/** Where the files of a case are. */
export interface CaseFiles {
  readonly store: ArtifactStore;
  /** Under which application they are kept. */
  readonly app: string;
}

/** What was seen while a case ran. */
export interface ScenarioCapture {
  readonly events: readonly GatewayEvent[];
  readonly requests: readonly DownstreamRequest[];
  readonly tokenRequests: readonly TokenRequest[];
  readonly cancellation: {
    /** Whether the caller asked for an end. */
    readonly sent: boolean;
    /** The tasks that the test agent was asked to end. */
    readonly received: readonly string[];
  };
  /** Undefined where nothing keeps files. */
  readonly files: CaseFiles | undefined;
}

/** Drives cases, one at a time, and keeps nothing of one for the next. */
export interface ScenarioHarness extends AsyncDisposable {
  /**
   * Sends what the case sends and waits for its end.
   *
   * @param signal - ends the waiting; what was seen until then is given all the same.
   */
  run(scenario: Scenario, signal: AbortSignal): Promise<ScenarioCapture>;
  close(): Promise<void>;
}
