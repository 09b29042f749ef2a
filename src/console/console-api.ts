/**
 * What the page of the console and its server say to each other. All paths are below `/api`, all bodies are JSON, and
 * every request has `Authorization: Bearer <token>`. An error is `{ error: { reason, message } }` with a status ≥ 400.
 * What streams is `text/event-stream`, one JSON document in each `data:`; the page reads it with `fetch`.
 *
 * | request | body | answer |
 * |---|---|---|
 * | `GET /api/about` | | {@link ConsoleInfo} |
 * | `GET /api/agents` | | {@link AgentEntry}[] |
 * | `POST /api/agents` | {@link NewAgent} | {@link AgentEntry} |
 * | `DELETE /api/agents/{id}` | | 204 |
 * | `GET /api/agents/{id}/cards` | | {@link AgentCards} |
 * | `POST /api/agents/{id}/messages` | {@link ChatInput} | stream of {@link ChatEvent} |
 * | `GET /api/agents/{id}/tasks?…` | | `TaskPage` of the model; query: contextId, state, pageSize, pageToken, way |
 * | `GET /api/agents/{id}/tasks/{taskId}` | | `Task` |
 * | `POST /api/agents/{id}/tasks/{taskId}/cancel` | | `Task` |
 * | `GET /api/agents/{id}/tasks/{taskId}/events` | | stream of {@link ChatEvent} |
 * | `GET /api/wire?after=n&tape=id` | | stream of {@link TrafficEvent}: what is kept after `n`, if that was of this tape, then what comes |
 * | `DELETE /api/wire` | | 204; forgets what is kept |
 * | `GET /api/wire/file` | | the file of a tap, to save |
 * | `POST /api/wire/file` | the file of a tap | `{ passages: Passage[] }`, checked; nothing is kept |
 * | `POST /api/wire/scenario` | `{ passages: Passage[] }` | `{ yaml: string }` |
 * | `POST /api/conformance` | {@link ConformanceInput} | stream of {@link ConformanceEvent} |
 * | `GET /api/load` | | stream of {@link LoadSample}: the last five minutes, then one each second |
 * | `GET /api/pushes` | | {@link PushEntry}[] |
 * | `POST /api/pushes/retry` | `{ taskId, configId }` | `{ retried: number }` |
 *
 * @module
 */
import type { ConformanceReport } from '../conformance/report/build-report.ts';
import type { AgentCard, ProtocolVersion } from '../protocol/card.ts';
import type { StreamEvent } from '../protocol/event.ts';
import type { LintFinding } from '../protocol/lint-stream.ts';
import type { Message } from '../protocol/message.ts';
import type { Part } from '../protocol/part.ts';
import type { Task } from '../protocol/task.ts';
import type { TrafficRecord } from '../tap/traffic-record.ts';

/** What this console is, and what it can show. */
export interface ConsoleInfo {
  readonly name: 'dragoman';
  readonly version: string;
  /** Whether push notifications are known of. */
  readonly hasPushes: boolean;
}

/** One way to speak to an agent; written `1.0/JSONRPC` in a query. */
export interface ProtocolVariant {
  readonly version: ProtocolVersion;
  readonly transport: 'JSONRPC' | 'HTTP+JSON';
}

/** Credentials that a person gave; the server keeps them in memory only and never shows them again. */
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

/** An agent that somebody wants to look at. */
export interface NewAgent {
  readonly url: string;
  readonly credentials?: CredentialsInput;
}

/** An agent that the console knows. */
export interface AgentEntry {
  readonly id: string;
  readonly url: string;
  /** From the card; the URL where there is none. */
  readonly name: string;
  readonly description?: string;
  readonly isReachable: boolean;
  /** Why not, and what to do, in plain words. */
  readonly problem?: string;
  /** The ways that the card offers, the one that is taken by default first. */
  readonly ways: readonly ProtocolVariant[];
  readonly isStreaming: boolean;
  /** Whether credentials are kept for it. */
  readonly hasCredentials: boolean;
  /** What the card asks for, such as `bearer` or `apiKey X-Key`. */
  readonly asksFor: readonly string[];
  /** False for agents that the console was started with. */
  readonly isRemovable: boolean;
}

/** One thing about a card that is wrong or seldom meant. */
export interface CardFinding {
  readonly level: 'error' | 'warning';
  /** The place, such as `skills[0].tags`. */
  readonly path: string;
  readonly message: string;
}

/** A card as it was published in one version. */
export interface VersionedCard {
  readonly version: ProtocolVersion;
  /** Where it was found. */
  readonly url: string;
  /** As it was published. */
  readonly wire: unknown;
  /** What it means. */
  readonly card?: AgentCard;
  readonly findings: readonly CardFinding[];
}

/** All cards of an agent. */
export interface AgentCards {
  readonly cards: readonly VersionedCard[];
}

/** What a person says to an agent. */
export interface ChatInput {
  readonly parts: readonly Part[];
  readonly taskId?: string;
  readonly contextId?: string;
  /** @defaultValue the first way of the agent */
  readonly way?: ProtocolVariant;
  /** Follows the task; otherwise one answer comes. @defaultValue true where the agent can */
  readonly stream?: boolean;
}

/** What becomes of a saying, as it happens. The last one is `done` or `error`. */
export type ChatEvent =
  | { readonly kind: 'event'; readonly event: StreamEvent; readonly findings: readonly LintFinding[] }
  /** The answer in one piece, where nothing was streamed. */
  | { readonly kind: 'answer'; readonly answer: Task | Message }
  | { readonly kind: 'error'; readonly reason: string; readonly message: string }
  /** What is wrong with the stream as a whole, where something is, comes with its end. */
  | { readonly kind: 'done'; readonly findings?: readonly LintFinding[] };

/**
 * What is seen on the wire. `tape` comes first and says which numbers count from here on, because those of a console
 * that was started anew begin again; `gap` says that passages were forgotten before the reader came to them.
 */
export type TrafficEvent =
  | { readonly kind: 'tape'; readonly id: string }
  | { readonly kind: 'passage'; readonly passage: TrafficRecord }
  | { readonly kind: 'gap'; readonly missed: number };

/** What to examine. */
export interface ConformanceInput {
  readonly agentId: string;
  readonly level?: 'MUST' | 'SHOULD' | 'MAY';
  /** Text prefixes or message-id prefixes that the agent understands. */
  readonly fixtures?: 'fx' | 'tck';
  /** Milliseconds for one task. */
  readonly timeout?: number;
}

/** How an examination goes. `html` is the report in one file. */
export type ConformanceEvent =
  | {
      readonly kind: 'progress';
      readonly done: number;
      readonly total: number;
      readonly rule?: string;
      readonly verdict?: string;
    }
  | { readonly kind: 'report'; readonly report: ConformanceReport; readonly html: string }
  | { readonly kind: 'error'; readonly reason: string; readonly message: string };

/** What happened in one second. */
export interface LoadSample {
  readonly at: number;
  readonly requests: number;
  readonly errors: number;
  readonly events: number;
  readonly openStreams: number;
  /** Milliseconds; undefined when nothing was answered. */
  readonly latencyMedian?: number;
  readonly latencyP99?: number;
}

/** A webhook that has not got everything. */
export interface PushEntry {
  readonly taskId: string;
  readonly configId: string;
  readonly url: string;
  readonly attempts: number;
  /** How many notifications wait. */
  readonly waiting: number;
  /** When it was given up; undefined while it is still tried. */
  readonly deadSince?: string;
  readonly problem?: string;
}
