import type { Part } from '../../../protocol/part.ts';
import type { Artifact, Task, TaskStatus } from '../../../protocol/task.ts';
import type { Metadata } from '../../../protocol/part.ts';
import type { ArtifactStore } from '../../../artifacts/artifact-store.ts';
import type { ExpectationMismatch } from '../expectations/compare-values.ts';
import type { Scenario } from '../files/read-scenarios.ts';

/** An event that the client received. `at` is in milliseconds since the start of the case. */
export type GatewayEvent = { readonly at: number } & (
  | {
      readonly type: 'status_update';
      readonly status: TaskStatus;
      readonly isFinal: boolean;
      readonly metadata?: Metadata;
    }
  | {
      readonly type: 'artifact_update';
      /** Links to files of the case store are resolved. */
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
  /** Parsed body; undefined if the request was intercepted before the agent. */
  readonly body: unknown;
}

/** A request for a token. */
export interface TokenRequest {
  readonly at: number;
  readonly url: string;
  readonly body: string;
}

/** Artifact store of a case. */
export interface CaseFiles {
  readonly store: ArtifactStore;
  /** Application name of the stored files. */
  readonly app: string;
}

/** Observations of one case. */
export interface ScenarioCapture {
  readonly events: readonly GatewayEvent[];
  readonly requests: readonly DownstreamRequest[];
  readonly tokenRequests: readonly TokenRequest[];
  readonly cancellation: {
    /** Whether the client sent a cancel request. */
    readonly sent: boolean;
    /** Ids of the tasks for which the test agent received a cancel request. */
    readonly received: readonly string[];
  };
  /** Undefined in the harness `direct`, which stores no files. */
  readonly files: CaseFiles | undefined;
  /** Differences that were found while a scenario with steps ran. */
  readonly mismatches?: readonly ExpectationMismatch[];
}

/** Test harness: runs cases one at a time, without shared state. */
export interface ScenarioHarness extends AsyncDisposable {
  /**
   * Sends the request of a case and waits for its end.
   *
   * @param signal - timeout; the observations until then are returned.
   */
  run(scenario: Scenario, signal: AbortSignal): Promise<ScenarioCapture>;
  close(): Promise<void>;
}
