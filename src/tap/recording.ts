import { isStreamingOperation, type Operation } from '../protocol/agent.ts';
import { type AgentCard, idempotencyExtension } from '../protocol/card.ts';
import { A2AError, type ErrorReason } from '../protocol/errors.ts';
import type { StreamEvent } from '../protocol/event.ts';
import { agentNameFromUrl } from './participants.ts';
import { findClientExchanges, groupExchanges, type TrafficExchange } from './exchanges.ts';
import type { TrafficRecord } from './traffic-record.ts';

/** An event of a recorded stream. */
export interface TimedEvent {
  /** Position of its record in the recording. */
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly event: StreamEvent;
}

/** An error that the recorded agent returned. */
export interface RecordedError {
  readonly reason: ErrorReason;
  readonly message: string;
  readonly details?: { readonly [key: string]: string };
}

/** What the recorded agent returned: a result, an error, or events that an error may follow. */
export interface RecordedAnswer {
  /** Milliseconds since 1970; of a stream, its end. */
  readonly at: number;
  readonly result?: unknown;
  readonly events?: readonly TimedEvent[];
  readonly error?: RecordedError;
}

/** A recorded request with its answer, in terms of the model. */
export interface RecordedExchange {
  /** Position in the recording, starting at 1. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly operation: Operation;
  readonly request: unknown;
  /** The request in one line. */
  readonly summary: string;
  readonly answer: RecordedAnswer;
}

/** All that a replay needs of the traffic with one agent. */
export interface Recording {
  readonly card: AgentCard;
  readonly extendedCard: AgentCard | undefined;
  readonly exchanges: readonly RecordedExchange[];
  /** Requests that cannot be replayed, each with the reason. */
  readonly leftOut: readonly string[];
}

/** Options of {@link readRecording}. */
export interface ReadRecordingOptions {
  /** Name of the agent, if several were recorded. */
  readonly agent?: string;
}

/**
 * Reads the traffic of clients with one agent.
 *
 * @throws {@link A2AError} `INVALID_PARAMS` if the traffic of no agent or of several agents was recorded.
 */
export function readRecording(
  records: readonly TrafficRecord[],
  options: ReadRecordingOptions = {},
): Recording {
  const all = findClientExchanges(groupExchanges(records));
  const aliases = findAliases(records);
  const nameOf = ({ to }: TrafficRecord): string => aliases.get(to) ?? to;
  const name = selectAgent(new Set(all.map(([request]) => nameOf(request))), options.agent);
  const leftOut: string[] = [];
  const exchanges: RecordedExchange[] = [];
  const cards: { public?: AgentCard; extended?: AgentCard } = {};
  for (const exchange of all) {
    const [request, ...answers] = exchange;
    if (nameOf(request) !== name) continue;
    const { operation, summary = '' } = request.decoded ?? {};
    if (operation === undefined) continue;
    if (operation === 'card') {
      const card = answers.find(({ decoded }) => decoded?.model !== undefined)?.decoded?.model;
      if (card === undefined) continue;
      const kind = request.http?.url.endsWith('/authenticatedExtendedCard') ? 'extended' : 'public';
      cards[kind] = card as AgentCard;
      continue;
    }
    const answer = toRecordedAnswer(exchange);
    if (typeof answer === 'string') leftOut.push(`${summary}: ${answer}`);
    else if (operation === 'extendedCard' && answer.result !== undefined)
      cards.extended = answer.result as AgentCard;
    else
      exchanges.push({
        number: exchanges.length + 1,
        at: request.at,
        operation,
        request: request.decoded?.model,
        summary,
        answer,
      });
  }
  const card = toReplayedCard(cards.public ?? cards.extended ?? defaultCard(name, exchanges));
  return { card, extendedCard: cards.extended && toReplayedCard(cards.extended), exchanges, leftOut };
}

/** An agent has the name of its host until its card is known. */
function findAliases(records: readonly TrafficRecord[]): Map<string, string> {
  const aliases = new Map<string, string>();
  for (const { kind, http, to } of records) {
    if (kind !== 'request' || !http) continue;
    const host = agentNameFromUrl(http.url);
    if (to !== host) aliases.set(host, to);
  }
  return aliases;
}

function selectAgent(names: ReadonlySet<string>, wanted: string | undefined): string {
  const list = [...names].join(', ');
  if (names.size === 0)
    throw new A2AError('INVALID_PARAMS', 'No request to an agent was recorded', {
      hint: 'Record the traffic of a client with dragoman tap --record FILE.',
    });
  if (wanted !== undefined && !names.has(wanted))
    throw new A2AError('INVALID_PARAMS', `No request to the agent "${wanted}" was recorded`, {
      hint: `Recorded agents: ${list}.`,
    });
  if (wanted === undefined && names.size > 1)
    throw new A2AError('INVALID_PARAMS', `Several agents were recorded: ${list}`, {
      hint: 'Name one of them with --replay-agent NAME.',
    });
  return wanted ?? ([...names][0] as string);
}

/** Interprets the answers of a request. @returns a reason as text if it cannot be repeated. */
export function toRecordedAnswer([request, ...answers]: TrafficExchange): RecordedAnswer | string {
  if (request.decoded?.model === undefined) return 'the request could not be decoded';
  const events: TimedEvent[] = [];
  let isStream = false;
  for (const { sequence, kind, at, text, decoded, truncatedBy } of answers) {
    if (kind === 'loss' || kind === 'end') continue;
    if (truncatedBy !== undefined) return 'a part of the answer is too large and was not recorded';
    const model = decoded?.model;
    if (decoded?.isError) {
      if (model === undefined) return `the answer could not be decoded (${decoded.summary})`;
      return { at, error: model as RecordedError, ...(isStream && { events }) };
    }
    if (kind === 'frame' || isEvent(model)) {
      isStream = true;
      if (model === undefined) return `an event could not be decoded (${decoded?.summary})`;
      for (const event of [model].flat() as StreamEvent[]) events.push({ sequence, at, event });
    } else if (model !== undefined || request.decoded.operation === 'deletePushConfig')
      return { at, result: model };
    // The head of a stream has no content.
    else isStream ||= text === '' && isStreamingOperation(request.decoded.operation as Operation);
  }
  if (!isStream) return 'no answer was recorded';
  return { at: answers.at(-1)?.at ?? request.at, events };
}

/** Returns true for the content of mesh messages that are events, like frames of a stream. */
function isEvent(model: unknown): boolean {
  return Array.isArray(model) || (typeof model === 'object' && model !== null && 'kind' in model);
}

/** Removes what only the recorded agent can fulfill. The server replaces the interfaces and signatures. */
function toReplayedCard(card: AgentCard): AgentCard {
  const { extensions = [], ...capabilities } = card.capabilities;
  const replayed = extensions.filter(({ uri }) => uri !== idempotencyExtension);
  return {
    ...card,
    capabilities: { ...capabilities, ...(replayed.length > 0 && { extensions: replayed }) },
  };
}

/** Card of an agent whose card was not recorded. */
function defaultCard(name: string, exchanges: readonly RecordedExchange[]): AgentCard {
  return {
    name,
    description: 'Recorded agent',
    version: '1.0.0',
    interfaces: [],
    capabilities: { streaming: exchanges.some(({ operation }) => operation === 'stream') },
    defaultInputModes: ['text/plain', '*/*'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'default', name, description: 'Recorded agent', tags: [] }],
  };
}
