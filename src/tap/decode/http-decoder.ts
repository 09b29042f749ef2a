import { truncate } from '../../primitives/text.ts';
import { streamOpenContext } from '../../client/transports/stream-open-context.ts';
import { dialectForCard } from '../../dialects/card-negotiation.ts';
import type { EventReader } from '../../dialects/dialect.ts';
import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { type LintFinding, StreamLinter } from '../../protocol/lint-stream.ts';
import { isJsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import { parseSseFrame } from '../../primitives/formats/sse.ts';
import type { ObservedRequest } from '../recorders/http-exchange-recorder.ts';
import type { DecodedContent } from '../traffic-record.ts';
import { findTaskReference, nonEmptyLosses, notReadable } from './task-reference.ts';
import {
  type IdentifiedOperation,
  identifyGrpcOperation,
  identifyRestOperation,
  identifyRpcOperation,
  isCardPath,
  parseVersionText,
} from './identify-operation.ts';
import { summarizeError, summarizeEvent, summarizeRequest, summarizeResult } from './summarize.ts';

/** Response without its body. */
export interface ResponseHead {
  readonly status: number;
  readonly isEventStream: boolean;
  /** False if the text is truncated. */
  readonly isComplete: boolean;
}

/** Where the agent expects an API key according to its card. */
export interface ApiKeyLocation {
  readonly location: 'header' | 'query' | 'cookie';
  readonly name: string;
}

/** Decodes the request, response and stream events of one HTTP exchange, in this order. */
export class HttpExchangeDecoder {
  readonly #head: ObservedRequest;
  readonly #path: string;
  #isCard: boolean;
  #operation: IdentifiedOperation | undefined;
  #request: unknown;
  #reader: EventReader | undefined;
  #linter: StreamLinter | undefined;
  /** API key locations in the returned card. */
  keys: readonly ApiKeyLocation[] = [];

  constructor(head: ObservedRequest) {
    this.#head = head;
    this.#path = head.url.replace(/^https?:\/\/[^/?#]*/, '').split(/[?#]/, 1)[0] ?? '/';
    this.#isCard = head.method === 'GET' && isCardPath(this.#path);
  }

  request(text: string, isComplete: boolean): DecodedContent {
    const { method, url } = this.#head;
    if (this.#isCard) return { operation: 'card', summary: summarizeRequest('card') };
    const body = isComplete && text !== '' ? parseJsonOrUndefined(text) : undefined;
    if (Array.isArray(body)) return { transport: 'JSONRPC', summary: `batch of ${body.length}` };
    const version = this.#versionText();
    this.#operation =
      identifyGrpcOperation(this.#path, body) ??
      identifyRpcOperation(body, parseVersionText(version), this.#path) ??
      identifyRestOperation({ method, url, version }, body);
    const identified = this.#operation;
    if (!identified) return { summary: truncate(`${method} ${this.#path}`, 100) };
    const losses: TranslationLoss[] = [];
    const common = this.#common();
    try {
      const { dialect, operation, params } = identified;
      const model = dialect.requests[operation].read(params, { lenient: true, losses });
      this.#request = model;
      const summary = summarizeRequest(operation, model);
      return { ...common, ...findTaskReference(model), summary, model, ...nonEmptyLosses(losses) };
    } catch (thrown) {
      const summary = summarizeRequest(identified.operation);
      // Bodies of unauthenticated requests are not recorded, so an empty body is not an error.
      return { ...common, summary: text === '' ? summary : notReadable(summary, thrown) };
    }
  }

  response({ status, isEventStream, isComplete }: ResponseHead, text: string): DecodedContent {
    if (isEventStream && status < 300) return { ...this.#common(), summary: 'stream begins' };
    const isError = status >= 400;
    const fallback = { ...this.#common(), summary: `HTTP ${status}`, ...(isError && { isError }) };
    const body = isComplete && text !== '' ? parseJsonOrUndefined(text) : undefined;
    if (this.#isCard) return isError ? fallback : this.#card(body, fallback);
    const identified = this.#operation;
    if (!identified) return fallback;
    try {
      return this.#decodeResponse(identified, body, status) ?? fallback;
    } catch (thrown) {
      return { ...fallback, summary: notReadable(`HTTP ${status}`, thrown) };
    }
  }

  /** Decodes one server-sent event, which may correspond to several events of the model. */
  frame(text: string, isComplete: boolean): DecodedContent {
    const identified = this.#operation;
    const { data, event, id } = parseSseFrame(text);
    const body = isComplete ? parseJsonOrUndefined(data) : undefined;
    if (!identified || body === undefined)
      return { ...this.#common(), summary: truncate(data.replaceAll(/\s+/g, ' '), 80) };
    const { dialect, transport } = identified;
    const losses: TranslationLoss[] = [];
    const wire = body as { error?: unknown; result?: unknown };
    try {
      if (transport === 'JSONRPC' && wire.error !== undefined)
        return this.#error(dialect.rpcError.read(wire.error));
      if (transport !== 'JSONRPC' && (event === 'error' || wire.error !== undefined))
        return this.#error(dialect.restError.read(body, 500));
      this.#reader ??= dialect.eventReader(streamOpenContext('stream', this.#openingRequest()));
      const result = transport === 'JSONRPC' ? wire.result : body;
      const events = this.#reader.read(result, { lenient: true, losses });
      return { ...this.#common(), ...this.#events(events, id), ...nonEmptyLosses(losses) };
    } catch (thrown) {
      return { ...this.#common(), summary: notReadable('event', thrown), ...nonEmptyLosses(losses) };
    }
  }

  /** Decodes the end of the exchange. @param isNormal - false if the connection was interrupted. */
  end(reason: string, isNormal: boolean): DecodedContent {
    const findings = isNormal ? (this.#linter?.end() ?? []) : [];
    return {
      ...this.#common(),
      summary: truncate(reason, 160),
      ...nonEmptyFindings(findings),
      ...(!isNormal && { isError: true }),
    };
  }

  #decodeResponse(
    identified: IdentifiedOperation,
    body: unknown,
    status: number,
  ): DecodedContent | undefined {
    const { dialect, operation, transport } = identified;
    if (transport === 'JSONRPC') {
      const wire = body as { error?: unknown; result?: unknown } | undefined;
      if (wire?.error !== undefined) return this.#error(dialect.rpcError.read(wire.error, status));
      if (wire === undefined || !('result' in wire)) return undefined;
      return this.#result(this.#withResultVersion(identified, wire.result), wire.result);
    }
    if (status >= 400)
      return body === undefined ? undefined : this.#error(dialect.restError.read(body, status));
    return body === undefined && operation !== 'deletePushConfig'
      ? undefined
      : this.#result(identified, body);
  }

  #result({ dialect, operation }: IdentifiedOperation, wire: unknown): DecodedContent {
    const losses: TranslationLoss[] = [];
    const codec = dialect.results[operation === 'stream' || operation === 'subscribe' ? 'send' : operation];
    const model = codec.read(wire, { lenient: true, losses });
    if (operation === 'extendedCard') this.#findKeys(model as AgentCard);
    const summary = summarizeResult(operation, model);
    return { ...this.#common(), ...findTaskReference(model), summary, model, ...nonEmptyLosses(losses) };
  }

  /** Some methods are the same in 0.1 and 0.3. Only a task shows the version. */
  #withResultVersion(identified: IdentifiedOperation, result: unknown): IdentifiedOperation {
    const { alternative } = identified;
    const isNewer = !isJsonObject(result) || 'kind' in result || 'contextId' in result;
    if (!alternative || isNewer || !('status' in result)) return identified;
    this.#operation = { ...identified, dialect: alternative, version: alternative.version };
    return this.#operation;
  }

  #card(body: unknown, fallback: DecodedContent): DecodedContent {
    if (body === undefined) return fallback;
    const { dialect, version } = dialectForCard(body);
    const losses: TranslationLoss[] = [];
    try {
      const model = dialect.card.read(body, { lenient: true, losses });
      this.#findKeys(model);
      const known = { ...fallback, ...(version !== 'unknown' && { version }) };
      return { ...known, summary: summarizeResult('card', model), model, ...nonEmptyLosses(losses) };
    } catch (thrown) {
      return { ...fallback, summary: truncate(`no card: ${A2AError.from(thrown).message}`, 160) };
    }
  }

  #findKeys({ securitySchemes = {} }: AgentCard): void {
    this.keys = Object.values(securitySchemes).flatMap((each) =>
      each.type === 'apiKey' ? [{ location: each.location, name: each.name }] : [],
    );
  }

  #events(events: readonly StreamEvent[], id: string | undefined): DecodedContent {
    // The linter needs the start of the stream, which a resumed stream does not contain.
    const isResumed = this.#head.headers['last-event-id'] !== undefined;
    this.#linter ??= isResumed ? undefined : new StreamLinter();
    const last = events.at(-1);
    if (last && id !== undefined && /^\d{1,15}$/.test(id)) last.sequence = Number(id);
    const findings = events.flatMap((each) => this.#linter?.check(each) ?? []);
    const summary = last ? summarizeEvent(last) : 'event without content';
    const model = events.length === 1 ? last : events;
    return { ...findTaskReference(last), summary, model, ...nonEmptyFindings(findings) };
  }

  #error(error: A2AError): DecodedContent {
    const { reason, message, details } = error;
    const model = { reason, message, ...(Object.keys(details).length > 0 && { details }) };
    return { ...this.#common(), summary: summarizeError(error), model, isError: true };
  }

  #openingRequest() {
    const message = { messageId: '', role: 'user' as const, parts: [] };
    const request = this.#request as { id?: string; message?: typeof message } | undefined;
    if (request?.message) return request as { message: typeof message };
    return { message, ...(request?.id !== undefined && { clientTaskId: request.id }) };
  }

  #common(): Omit<DecodedContent, 'summary'> {
    if (this.#isCard) return { operation: 'card' };
    if (!this.#operation) return {};
    const { version, transport, operation } = this.#operation;
    return { version, transport, operation };
  }

  #versionText(): string | undefined {
    const header = this.#head.headers['a2a-version'];
    const value = typeof header === 'string' ? header : header?.[0];
    if (value !== undefined && value !== '') return value;
    return /[?&]a2a-version=([^&#]*)/i.exec(this.#head.url)?.[1];
  }
}

function nonEmptyFindings(findings: readonly LintFinding[]): { findings?: readonly LintFinding[] } {
  return findings.length === 0 ? {} : { findings };
}
