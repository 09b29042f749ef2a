/**
 * API between the console page and its server. All paths are below `/api`, bodies are JSON, and every request has
 * `Authorization: Bearer <token>`. An error is `{ error: { reason, message } }` with a status ≥ 400. Streams are
 * `text/event-stream` with one JSON document per `data:`; the page reads them with `fetch`.
 *
 * | request | body | response |
 * |---|---|---|
 * | `GET /api/info` | | {@link ConsoleInfo} |
 * | `GET /api/agents` | | {@link AgentEntry}[] |
 * | `POST /api/agents` | {@link NewAgent} | {@link AgentEntry} |
 * | `DELETE /api/agents/{id}` | | 204 |
 * | `POST /api/agents/{id}/login` | {@link LoginInput} | stream of {@link LoginEvent} |
 * | `GET /api/agents/{id}/cards` | | {@link AgentCards} |
 * | `GET /api/catalog?url=…` | | {@link CatalogContent}: the agents of the console, or those in the catalog of a host |
 * | `POST /api/agents/{id}/messages` | {@link ChatInput} | stream of {@link ChatEvent} |
 * | `GET /api/agents/{id}/endpoints` | | {@link AgentEndpoint}[] |
 * | `POST /api/agents/{id}/requests` | {@link ComposedRequest} | stream of {@link ComposedRequestEvent} |
 * | `GET /api/conversations` | | {@link ConversationSummary}[], newest first |
 * | `DELETE /api/conversations` | | 204; deletes all conversations |
 * | `GET /api/conversations/{id}` | | {@link KeptConversation} |
 * | `POST /api/conversations/{id}` | `{ name }` | 204; renames it |
 * | `DELETE /api/conversations/{id}` | | 204 |
 * | `GET /api/conversations/{id}/turns/{turn}/events` | | stream of {@link ChatEvent}: those so far, then new ones until the end of the turn |
 * | `DELETE /api/conversations/{id}/turns/{turn}` | | 204; stops waiting for the agent |
 * | `GET /api/agents/{id}/tasks?…` | | {@link TaskListPage}; query: contextId, state, pageSize, pageToken, variant, and `tests=hide` to leave out tasks of tests |
 * | `GET /api/agents/{id}/tasks/{taskId}` | | `Task` |
 * | `POST /api/agents/{id}/tasks/{taskId}/cancel` | | `Task` |
 * | `GET /api/agents/{id}/tasks/{taskId}/events` | | stream of {@link ChatEvent} |
 * | `GET /api/tasks/{taskId}/holders` | | {@link HolderEntry}[], one per owner that has a task with this id |
 * | `GET /api/traffic?after=n&log=id` | | stream of {@link TrafficEvent}: records after `n`, if the log id matches, then new ones |
 * | `DELETE /api/traffic` | | 204; clears the traffic log |
 * | `GET /api/traffic/file` | | a traffic file |
 * | `POST /api/traffic/file?name=…` | a traffic file or HTTP archive (HAR) | `{ records: TrafficRecord[] }`, validated; kept as a recording |
 * | `POST /api/traffic/har` | `{ records: TrafficRecord[] }` | an HTTP archive (HAR 1.2) |
 * | `GET /api/recordings` | | {@link RecordingEntry}[], newest first |
 * | `DELETE /api/recordings` | | 204; deletes all recordings |
 * | `GET /api/recordings/{id}` | | `{ records: TrafficRecord[] }` |
 * | `POST /api/recordings/{id}` | `{ name }` | 204; renames it |
 * | `DELETE /api/recordings/{id}` | | 204 |
 * | `POST /api/traffic/scenario` | `{ records: TrafficRecord[] }` | `{ yaml: string }` |
 * | `GET /api/conformance/run` | | stream of {@link ConformanceEvent}: the newest run from its start, then all further ones |
 * | `POST /api/conformance/run` | {@link ConformanceInput} | 204; starts a run |
 * | `DELETE /api/conformance/run` | | 204; cancels the run |
 * | `GET /api/conformance/reports` | | {@link ReportEntry}[], the newest first |
 * | `POST /api/conformance/reports` | a JSON report | {@link ReportEntry}; only its verdicts are kept |
 * | `GET /api/conformance/reports/{id}` | | `ConformanceReport` of a run |
 * | `GET /api/conformance/reports/{id}/file?format=…` | | the report as the command writes it: json, markdown, junit, html, sarif, badge |
 * | `GET /api/conformance/reports/{id}/changes?since=id` | | `ReportChange[]`: differences to an earlier report |
 * | `POST /api/conformance/reports/{id}/repeat` | {@link RerunInput} | 204; starts a run of one rule that replaces its result |
 * | `GET /api/agents/{id}/prompts` | | `OutcomePrompts`: the saved message for each state |
 * | `POST /api/agents/{id}/prompts` | `OutcomePrompts` | 204; saves them for the runs of the agent |
 * | `POST /api/conformance/prompts` | a prompts file | `OutcomePrompts` |
 * | `POST /api/conformance/prompts/file` | `OutcomePrompts` | a prompts file |
 * | `GET /api/load?agent=name&tests=hide` | | stream of {@link LoadEvent}: the last five minutes, then one sample per second; of all agents without `agent`, without tests with `tests=hide` |
 * | `GET /api/load/run` | | stream of {@link LoadRunEvent}: the newest load run from its start, then all further ones |
 * | `POST /api/load/run` | {@link LoadRunInput} | 204; starts a load run against an agent on loopback |
 * | `DELETE /api/load/run` | | 204; ends the load run early, with its report |
 * | `GET /api/push-deliveries` | | {@link PushEntry}[] |
 * | `POST /api/push-deliveries/retry` | `{ taskId, configId }` | `{ retried: number }` |
 *
 * @module
 */
import type { LoginFlow } from '../client/oauth/login-grant.ts';
import type { LatencySummary } from '../load/latency-histogram.ts';
import type { LoadOperation, LoadPlan } from '../load/load-plan.ts';
import type { LoadErrorCount, LoadInterval, LoadProgress, LoadReport } from '../load/load-report.ts';
import type { AgentCard, ProtocolVariant, ProtocolVersion } from '../protocol/card.ts';
import type { StreamEvent } from '../protocol/event.ts';
import type { LintFinding } from '../protocol/lint-stream.ts';
import type { Message } from '../protocol/message.ts';
import type { Part } from '../protocol/part.ts';
import type { TaskPage } from '../protocol/requests.ts';
import type { Task } from '../protocol/task.ts';
import type { TrafficRecord } from '../tap/traffic-record.ts';

/** Version and features of the console. */
export interface ConsoleInfo {
  readonly name: 'dragoman';
  readonly version: string;
  /** True if a task store with push deliveries is configured. */
  readonly hasPushDeliveries: boolean;
  /** True if replicas share the task store, so that each unfinished task has a holder. */
  readonly hasReplicas: boolean;
  /** Folder that keeps conversations and recordings; undefined if they end with the console. */
  readonly sessionFolder?: string;
  /** What could not be kept or read, in words for the user. */
  readonly sessionNotes: readonly string[];
}

/** The replica that holds a task. */
export interface HolderEntry {
  /** Name of the replica; undefined if none holds the task. */
  readonly replica: string | undefined;
  /** False if the lease of the replica has ended. */
  readonly isAlive: boolean;
}

/** Credentials entered by the user; the server keeps them in memory only and never returns them. */
export type CredentialsInput =
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'header'; readonly name: string; readonly value: string }
  | { readonly kind: 'basic'; readonly user: string; readonly password: string }
  | {
      readonly kind: 'client-credentials';
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly clientSecret: string;
      readonly scope?: string;
    };

/** Options of a login with OAuth 2. */
export interface LoginInput {
  readonly flow: LoginFlow;
  /** @defaultValue the authorization server registers a client, if it offers that */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** @defaultValue the scopes that the card requires */
  readonly scope?: string;
}

/** An event of a login: what the user must open, then `done` or `error`. */
export type LoginEvent =
  | { readonly kind: 'prompt'; readonly url: string; readonly userCode?: string }
  | { readonly kind: 'done' }
  | { readonly kind: 'error'; readonly reason: string; readonly message: string };

/** An agent to add. */
export interface NewAgent {
  readonly url: string;
  readonly credentials?: CredentialsInput;
}

/** A registered agent. */
export interface AgentEntry {
  readonly id: string;
  readonly url: string;
  /** From the card; the URL if there is none. */
  readonly name: string;
  readonly description?: string;
  readonly isReachable: boolean;
  /** Why it is unreachable, with advice. */
  readonly error?: string;
  /** Variants of the card; the default is first. */
  readonly variants: readonly ProtocolVariant[];
  readonly isStreaming: boolean;
  /** True if credentials are stored for it. */
  readonly hasCredentials: boolean;
  /** Security schemes of the card, such as `bearer` or `apiKey X-Key`. */
  readonly requiredCredentials: readonly string[];
  /** Flows of OAuth 2 that its card offers for a login. */
  readonly loginFlows?: readonly LoginFlow[];
  /** False for agents of the command line. */
  readonly isRemovable: boolean;
}

/** An error or warning about a card. */
export interface CardFinding {
  readonly level: 'error' | 'warning';
  /** Field path, such as `skills[0].tags`. */
  readonly path: string;
  readonly message: string;
}

/** A card published in one version. */
export interface VersionedCard {
  readonly version: ProtocolVersion;
  readonly url: string;
  /** The published JSON. */
  readonly published: unknown;
  /** The decoded card. */
  readonly card?: AgentCard;
  readonly findings: readonly CardFinding[];
}

/** All cards of an agent. */
export interface AgentCards {
  readonly cards: readonly VersionedCard[];
}

/** An agent in the catalog view. */
export interface CatalogEntry {
  readonly name: string;
  readonly description?: string;
  /** URL by which the console can add the agent. */
  readonly url: string;
  /** ID of the agent, if the console knows it. */
  readonly agentId?: string;
  readonly skills: readonly CatalogSkill[];
  readonly variants: readonly { readonly version: string; readonly transport: string }[];
  /** Required security schemes, such as `bearer`; none if calls need no credentials. */
  readonly security: readonly string[];
  /** Why its card cannot be read. */
  readonly error?: string;
}

/** A skill in the catalog view. */
export interface CatalogSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}

/** Agents of the catalog view. */
export interface CatalogContent {
  readonly entries: readonly CatalogEntry[];
  /** Number of agents of the catalog that are left out. */
  readonly omitted: number;
}

/** A page of tasks. */
export interface TaskListPage extends TaskPage {
  /** Number of tasks of conformance runs and load runs that are left out of this page. */
  readonly hiddenCount: number;
}

/** A message of the user. */
export interface ChatInput {
  readonly parts: readonly Part[];
  readonly taskId?: string;
  readonly contextId?: string;
  /** @defaultValue the first variant of the agent */
  readonly variant?: ProtocolVariant;
  /** Streams events instead of one result. @defaultValue true if the agent supports it */
  readonly stream?: boolean;
  /** Keeps the message and its events as a turn of a conversation; both IDs are chosen by the page. */
  readonly conversation?: { readonly id: string; readonly turn: string };
}

export type { ConversationSummary, KeptConversation, KeptTurn, RecordingEntry } from './session-api.ts';

/** An interface of an agent. */
export interface AgentEndpoint extends ProtocolVariant {
  readonly url: string;
  readonly tenant?: string;
}

/** A request that the user composed. It is sent as written, also if it is invalid. */
export interface ComposedRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** URL with the origin of the agent or of an interface on its card. */
  readonly url: string;
  /** A value with `[redacted]` is replaced by the credentials of the console. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body?: string;
  /** True if the body is ProtoJSON that is sent as a message of gRPC. */
  readonly isGrpc?: boolean;
  /** Adds the credentials of the console, except for headers that the user wrote. @defaultValue true */
  readonly hasCredentials?: boolean;
}

/** An event of a composed request: its records, then `done` or `error`. */
export type ComposedRequestEvent =
  | { readonly kind: 'record'; readonly record: TrafficRecord }
  | { readonly kind: 'done' }
  | { readonly kind: 'error'; readonly reason: string; readonly message: string };

/** An event of a chat message. The last one is `done` or `error`. */
export type ChatEvent =
  | { readonly kind: 'event'; readonly event: StreamEvent; readonly findings: readonly LintFinding[] }
  /** The result of a call without streaming. */
  | { readonly kind: 'result'; readonly result: Task | Message }
  | { readonly kind: 'error'; readonly reason: string; readonly message: string }
  /** Findings about the stream as a whole are sent at its end. */
  | { readonly kind: 'done'; readonly findings?: readonly LintFinding[] };

/**
 * An event of the traffic stream. `log` is first and identifies the traffic log, because a restarted console numbers
 * its records from 1 again; `gap` reports records that were evicted before they could be sent.
 */
export type TrafficEvent =
  | { readonly kind: 'log'; readonly id: string }
  | { readonly kind: 'record'; readonly record: TrafficRecord }
  | { readonly kind: 'gap'; readonly missed: number };

export type {
  CheckPlace,
  ConformanceEvent,
  ConformanceInput,
  HeaderInput,
  ReportEntry,
  RerunInput,
} from './conformance/conformance-api.ts';

/** Load of one second. */
export interface LoadSample {
  readonly at: number;
  readonly requests: number;
  readonly errors: number;
  readonly events: number;
  readonly openStreams: number;
  /** Undefined without responses. */
  readonly latency?: SampleLatency;
}

/** Latency percentiles in milliseconds. */
export interface SampleLatency {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** An event of the load stream: a sample, or the names of all agents in recorded traffic when they have changed. */
export type LoadEvent =
  | { readonly kind: 'agents'; readonly names: readonly string[] }
  | { readonly kind: 'sample'; readonly sample: LoadSample };

export type {
  LatencySummary,
  LoadErrorCount,
  LoadInterval,
  LoadOperation,
  LoadPlan,
  LoadProgress,
  LoadReport,
};

/** Options of a load run; durations in milliseconds. */
export interface LoadRunInput {
  readonly agentId: string;
  readonly operation: LoadOperation;
  /** Requests per second of an open loop, up to 1,000. @defaultValue closed loop */
  readonly rate?: number;
  /** Clients of a closed loop, or open requests of an open loop, up to 256. */
  readonly connections?: number;
  /** Up to ten minutes. */
  readonly duration: number;
  /** Up to one minute. */
  readonly warmUp?: number;
  /** Text of messages. */
  readonly text?: string;
  /** @defaultValue the first variant of the agent */
  readonly variant?: ProtocolVariant;
}

/** An event of a load run. The first one is `started`, the last one `report` or `error`. */
export type LoadRunEvent =
  | {
      readonly kind: 'started';
      readonly agentId: string;
      readonly agentName: string;
      /** Milliseconds since 1970. */
      readonly startedAt: number;
      readonly plan: LoadPlan;
    }
  | { readonly kind: 'connected'; readonly variant: ProtocolVariant }
  | { readonly kind: 'progress'; readonly at: number; readonly progress: LoadProgress }
  | { readonly kind: 'report'; readonly report: LoadReport }
  | { readonly kind: 'error'; readonly reason: string; readonly message: string };

/** A webhook with undelivered notifications. */
export interface PushEntry {
  readonly taskId: string;
  readonly configId: string;
  readonly url: string;
  readonly attempts: number;
  /** Number of undelivered notifications. */
  readonly pendingCount: number;
  /** Time at which it became a dead letter; undefined while it is retried. */
  readonly deadSince?: string;
  readonly error?: string;
}
