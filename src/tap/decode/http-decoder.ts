import { streamOpenContext } from '../../client/transports/stream-open-context.ts';
import { dialectForCard } from '../../dialects/card-negotiation.ts';
import type { EventReader } from '../../dialects/dialect.ts';
import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { type LintFinding, StreamLinter } from '../../protocol/lint-stream.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import { parseSseFrame } from '../sse-frame.ts';
import type { ObservedRequest } from '../recorders/http-exchange-recorder.ts';
import type { TrafficTransport, DecodedContent } from '../traffic-record.ts';
import { findTaskReference, nonEmptyLosses } from './task-reference.ts';
import {
  type IdentifiedOperation,
  identifyRestOperation,
  identifyRpcOperation,
  isCardPath,
  parseVersionText,
} from './identify-operation.ts';
import {
  summarizeError,
  summarizeEvent,
  summarizeRequest,
  summarizeResult,
  truncateSummary,
} from './summarize.ts';

/** What an answer is, beside its text. */
export interface ResponseHead {
  readonly status: number;
  readonly isEvents: boolean;
  /** False where the end of the text is missing. */
  readonly isWhole: boolean;
}

/** Where an agent wants a key, as its card says. */
export interface ApiKeyLocation {
  readonly location: 'header' | 'query' | 'cookie';
  readonly name: string;
}

/** Tells what a request, its answer and the events of it mean, each in the light of what came before. */
export class HttpExchangeDecoder {
  readonly #head: ObservedRequest;
  readonly #path: string;
  #isCard: boolean;
  #asked: IdentifiedOperation | undefined;
  #request: unknown;
  #reader: EventReader | undefined;
  #linter: StreamLinter | undefined;
  /** Where keys go, by the card that was the answer. */
  keys: readonly ApiKeyLocation[] = [];

  constructor(head: ObservedRequest) {
    this.#head = head;
    this.#path = head.url.replace(/^https?:\/\/[^/?#]*/, '').split(/[?#]/, 1)[0] ?? '/';
    this.#isCard = head.method === 'GET' && isCardPath(this.#path);
  }

  request(text: string, isWhole: boolean): DecodedContent {
    const { method, url } = this.#head;
    if (this.#isCard) return { operation: 'card', summary: summarizeRequest('card') };
    const body = isWhole && text !== '' ? parseJsonOrUndefined(text) : undefined;
    if (Array.isArray(body)) return { binding: 'JSONRPC', summary: `batch of ${body.length}` };
    const version = this.#versionText();
    this.#asked =
      identifyRpcOperation(body, parseVersionText(version), this.#path) ??
      identifyRestOperation({ method, url, version }, body);
    const asked = this.#asked;
    if (!asked) return { summary: truncateSummary(`${method} ${this.#path}`, 100) };
    const losses: TranslationLoss[] = [];
    const known = this.#known();
    try {
      const { dialect, operation, params, id = null } = asked;
      const model = dialect.requests[operation].read(params, { lenient: true, losses, requestId: id });
      this.#request = model;
      return {
        ...known,
        ...findTaskReference(model),
        summary: summarizeRequest(operation, model),
        model,
        ...nonEmptyLosses(losses),
      };
    } catch (thrown) {
      const summary = summarizeRequest(asked.operation);
      // Whoever is refused before it is listened to said nothing that is wrong.
      if (text === '') return { ...known, summary };
      return {
        ...known,
        summary: truncateSummary(`${summary}, not readable: ${A2AError.from(thrown).message}`, 160),
      };
    }
  }

  response({ status, isEvents, isWhole }: ResponseHead, text: string): DecodedContent {
    if (isEvents && status < 300) return { ...this.#known(), summary: 'stream begins' };
    const isError = status >= 400;
    const plain = { ...this.#known(), summary: `HTTP ${status}`, ...(isError && { isError }) };
    const body = isWhole && text !== '' ? parseJsonOrUndefined(text) : undefined;
    if (this.#isCard) return isError ? plain : this.#card(body, plain);
    const asked = this.#asked;
    if (!asked) return plain;
    try {
      return this.#answer(asked, body, status) ?? plain;
    } catch (thrown) {
      const { message } = A2AError.from(thrown);
      return { ...plain, summary: truncateSummary(`HTTP ${status}, not readable: ${message}`, 160) };
    }
  }

  /** One event of a stream; may be several in the model. */
  frame(text: string, isWhole: boolean): DecodedContent {
    const asked = this.#asked;
    const { data, event, id } = parseSseFrame(text);
    const body = isWhole ? parseJsonOrUndefined(data) : undefined;
    if (!asked || body === undefined)
      return { ...this.#known(), summary: truncateSummary(data.replaceAll(/\s+/g, ' '), 80) };
    const { dialect, binding } = asked;
    const losses: TranslationLoss[] = [];
    const wire = body as { error?: unknown; result?: unknown };
    try {
      if (binding === 'JSONRPC' && wire.error !== undefined)
        return this.#error(dialect.rpcError.read(wire.error));
      if (binding !== 'JSONRPC' && (event === 'error' || wire.error !== undefined))
        return this.#error(dialect.restError.read(body, 500));
      this.#reader ??= dialect.eventReader(streamOpenContext('stream', this.#opening()));
      const events = this.#reader.read(binding === 'JSONRPC' ? wire.result : body, { lenient: true, losses });
      return { ...this.#known(), ...this.#events(events, id), ...nonEmptyLosses(losses) };
    } catch (thrown) {
      const { message } = A2AError.from(thrown);
      return {
        ...this.#known(),
        summary: truncateSummary(`an event, not readable: ${message}`, 160),
        ...nonEmptyLosses(losses),
      };
    }
  }

  /** The end of everything. @param isClean - false where somebody broke off. */
  end(why: string, isClean: boolean): DecodedContent {
    const findings = isClean ? (this.#linter?.end() ?? []) : [];
    return {
      ...this.#known(),
      summary: truncateSummary(why, 160),
      ...found(findings),
      ...(!isClean && { isError: true }),
    };
  }

  #answer(asked: IdentifiedOperation, body: unknown, status: number): DecodedContent | undefined {
    const { dialect, operation, binding } = asked;
    if (binding === 'JSONRPC') {
      const wire = body as { error?: unknown; result?: unknown } | undefined;
      if (wire?.error !== undefined) return this.#error(dialect.rpcError.read(wire.error, status));
      if (wire === undefined || !('result' in wire)) return undefined;
      return this.#result(asked, wire.result);
    }
    if (status >= 400)
      return body === undefined ? undefined : this.#error(dialect.restError.read(body, status));
    return body === undefined && operation !== 'deletePushConfig' ? undefined : this.#result(asked, body);
  }

  #result({ dialect, operation }: IdentifiedOperation, wire: unknown): DecodedContent {
    const losses: TranslationLoss[] = [];
    const codec = dialect.results[operation === 'stream' || operation === 'subscribe' ? 'send' : operation];
    const model = codec.read(wire, { lenient: true, losses });
    const meaning = {
      ...this.#known(),
      ...findTaskReference(model),
      summary: summarizeResult(operation, model),
      model,
    };
    if (operation === 'extendedCard') this.#learn(model as AgentCard);
    return { ...meaning, ...nonEmptyLosses(losses) };
  }

  #card(body: unknown, plain: DecodedContent): DecodedContent {
    if (body === undefined) return plain;
    const { dialect, version } = dialectForCard(body);
    const losses: TranslationLoss[] = [];
    try {
      const model = dialect.card.read(body, { lenient: true, losses });
      this.#learn(model);
      const spoken = version === 'unknown' ? {} : { version };
      return {
        ...plain,
        ...spoken,
        summary: summarizeResult('card', model),
        model,
        ...nonEmptyLosses(losses),
      };
    } catch (thrown) {
      return { ...plain, summary: truncateSummary(`no card: ${A2AError.from(thrown).message}`, 160) };
    }
  }

  #learn({ securitySchemes = {} }: AgentCard): void {
    this.keys = Object.values(securitySchemes).flatMap((each) =>
      each.type === 'apiKey' ? [{ location: each.location, name: each.name }] : [],
    );
  }

  #events(events: readonly StreamEvent[], id: string | undefined): DecodedContent {
    // Whoever goes on in the middle of a stream does not see how it began.
    this.#linter ??= this.#isResumed() ? undefined : new StreamLinter();
    const last = events.at(-1);
    if (last && id !== undefined && /^\d{1,15}$/.test(id)) last.sequence = Number(id);
    const findings = events.flatMap((each) => this.#linter?.check(each) ?? []);
    const about = findTaskReference(last);
    const summary = last ? summarizeEvent(last) : 'an event that says nothing';
    return { ...about, summary, model: events.length === 1 ? last : events, ...found(findings) };
  }

  #error(error: A2AError): DecodedContent {
    const { reason, message, details } = error;
    const model = { reason, message, ...(Object.keys(details).length > 0 && { details }) };
    return { ...this.#known(), summary: summarizeError(error), model, isError: true };
  }

  #isResumed(): boolean {
    return this.#head.headers['last-event-id'] !== undefined;
  }

  #opening() {
    const message = { messageId: '', role: 'user' as const, parts: [] };
    const request = this.#request as { id?: string; message?: typeof message } | undefined;
    if (request?.message) return request as { message: typeof message };
    return { message, ...(request?.id !== undefined && { clientTaskId: request.id }) };
  }

  #known(): Omit<DecodedContent, 'summary'> {
    if (this.#isCard) return { operation: 'card' };
    if (!this.#asked) return {};
    const { version, binding, operation } = this.#asked;
    return { version, binding: binding satisfies TrafficTransport, operation };
  }

  #versionText(): string | undefined {
    const header = this.#head.headers['a2a-version'];
    const given = typeof header === 'string' ? header : header?.[0];
    if (given !== undefined && given !== '') return given;
    return /[?&]a2a-version=([^&#]*)/i.exec(this.#head.url)?.[1];
  }
}

function found(findings: readonly LintFinding[]): { findings?: readonly LintFinding[] } {
  return findings.length === 0 ? {} : { findings };
}
