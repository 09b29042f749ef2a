import { openingOf } from '../../client/transports/stream-open-context.ts';
import { chooseForCard } from '../../dialects/card-negotiation.ts';
import type { EventReader } from '../../dialects/dialect.ts';
import type { Loss } from '../../dialects/translation-loss.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { type Finding, StreamLinter } from '../../protocol/lint-stream.ts';
import { readJson } from '../../primitives/json.ts';
import { readFrame } from '../sse-frame.ts';
import type { SeenRequest } from '../recorders/http-exchange-recorder.ts';
import type { Binding, Meaning } from '../traffic-record.ts';
import { aboutOf, lost } from './task-reference.ts';
import { type Asked, askedByRest, askedByRpc, isCardPath, versionIn } from './identify-operation.ts';
import { gistOfError, gistOfEvent, gistOfRequest, gistOfResult, short } from './summarize.ts';

/** What an answer is, beside its text. */
export interface AnswerHead {
  readonly status: number;
  readonly isEvents: boolean;
  /** False where the end of the text is missing. */
  readonly isWhole: boolean;
}

/** Where an agent wants a key, as its card says. */
export interface KeyPlace {
  readonly location: 'header' | 'query' | 'cookie';
  readonly name: string;
}

/** Tells what a request, its answer and the events of it mean, each in the light of what came before. */
export class TripMeaning {
  readonly #head: SeenRequest;
  readonly #path: string;
  #isCard: boolean;
  #asked: Asked | undefined;
  #request: unknown;
  #reader: EventReader | undefined;
  #linter: StreamLinter | undefined;
  /** Where keys go, by the card that was the answer. */
  keys: readonly KeyPlace[] = [];

  constructor(head: SeenRequest) {
    this.#head = head;
    this.#path = head.url.replace(/^https?:\/\/[^/?#]*/, '').split(/[?#]/, 1)[0] ?? '/';
    this.#isCard = head.method === 'GET' && isCardPath(this.#path);
  }

  request(text: string, isWhole: boolean): Meaning {
    const { method, url } = this.#head;
    if (this.#isCard) return { operation: 'card', gist: gistOfRequest('card') };
    const body = isWhole && text !== '' ? readJson(text) : undefined;
    if (Array.isArray(body)) return { binding: 'JSONRPC', gist: `batch of ${body.length}` };
    const version = this.#versionText();
    this.#asked =
      askedByRpc(body, versionIn(version), this.#path) ?? askedByRest({ method, url, version }, body);
    const asked = this.#asked;
    if (!asked) return { gist: short(`${method} ${this.#path}`, 100) };
    const losses: Loss[] = [];
    const known = this.#known();
    try {
      const { dialect, operation, params, id = null } = asked;
      const model = dialect.requests[operation].read(params, { lenient: true, losses, requestId: id });
      this.#request = model;
      return { ...known, ...aboutOf(model), gist: gistOfRequest(operation, model), model, ...lost(losses) };
    } catch (thrown) {
      const gist = gistOfRequest(asked.operation);
      // Whoever is refused before it is listened to said nothing that is wrong.
      if (text === '') return { ...known, gist };
      return { ...known, gist: short(`${gist}, not readable: ${A2AError.from(thrown).message}`, 160) };
    }
  }

  response({ status, isEvents, isWhole }: AnswerHead, text: string): Meaning {
    if (isEvents && status < 300) return { ...this.#known(), gist: 'stream begins' };
    const isError = status >= 400;
    const plain = { ...this.#known(), gist: `HTTP ${status}`, ...(isError && { isError }) };
    const body = isWhole && text !== '' ? readJson(text) : undefined;
    if (this.#isCard) return isError ? plain : this.#card(body, plain);
    const asked = this.#asked;
    if (!asked) return plain;
    try {
      return this.#answer(asked, body, status) ?? plain;
    } catch (thrown) {
      const { message } = A2AError.from(thrown);
      return { ...plain, gist: short(`HTTP ${status}, not readable: ${message}`, 160) };
    }
  }

  /** One event of a stream; may be several in the model. */
  frame(text: string, isWhole: boolean): Meaning {
    const asked = this.#asked;
    const { data, event, id } = readFrame(text);
    const body = isWhole ? readJson(data) : undefined;
    if (!asked || body === undefined)
      return { ...this.#known(), gist: short(data.replaceAll(/\s+/g, ' '), 80) };
    const { dialect, binding } = asked;
    const losses: Loss[] = [];
    const wire = body as { error?: unknown; result?: unknown };
    try {
      if (binding === 'JSONRPC' && wire.error !== undefined)
        return this.#error(dialect.rpcError.read(wire.error));
      if (binding !== 'JSONRPC' && (event === 'error' || wire.error !== undefined))
        return this.#error(dialect.restError.read(body, 500));
      this.#reader ??= dialect.eventReader(openingOf('stream', this.#opening()));
      const events = this.#reader.read(binding === 'JSONRPC' ? wire.result : body, { lenient: true, losses });
      return { ...this.#known(), ...this.#events(events, id), ...lost(losses) };
    } catch (thrown) {
      const { message } = A2AError.from(thrown);
      return { ...this.#known(), gist: short(`an event, not readable: ${message}`, 160), ...lost(losses) };
    }
  }

  /** The end of everything. @param isClean - false where somebody broke off. */
  end(why: string, isClean: boolean): Meaning {
    const findings = isClean ? (this.#linter?.end() ?? []) : [];
    return {
      ...this.#known(),
      gist: short(why, 160),
      ...found(findings),
      ...(!isClean && { isError: true }),
    };
  }

  #answer(asked: Asked, body: unknown, status: number): Meaning | undefined {
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

  #result({ dialect, operation }: Asked, wire: unknown): Meaning {
    const losses: Loss[] = [];
    const codec = dialect.results[operation === 'stream' || operation === 'subscribe' ? 'send' : operation];
    const model = codec.read(wire, { lenient: true, losses });
    const meaning = { ...this.#known(), ...aboutOf(model), gist: gistOfResult(operation, model), model };
    if (operation === 'extendedCard') this.#learn(model as AgentCard);
    return { ...meaning, ...lost(losses) };
  }

  #card(body: unknown, plain: Meaning): Meaning {
    if (body === undefined) return plain;
    const { dialect, version } = chooseForCard(body);
    const losses: Loss[] = [];
    try {
      const model = dialect.card.read(body, { lenient: true, losses });
      this.#learn(model);
      const spoken = version === 'unknown' ? {} : { version };
      return { ...plain, ...spoken, gist: gistOfResult('card', model), model, ...lost(losses) };
    } catch (thrown) {
      return { ...plain, gist: short(`no card: ${A2AError.from(thrown).message}`, 160) };
    }
  }

  #learn({ securitySchemes = {} }: AgentCard): void {
    this.keys = Object.values(securitySchemes).flatMap((each) =>
      each.type === 'apiKey' ? [{ location: each.location, name: each.name }] : [],
    );
  }

  #events(events: readonly StreamEvent[], id: string | undefined): Meaning {
    // Whoever goes on in the middle of a stream does not see how it began.
    this.#linter ??= this.#isResumed() ? undefined : new StreamLinter();
    const last = events.at(-1);
    if (last && id !== undefined && /^\d{1,15}$/.test(id)) last.sequence = Number(id);
    const findings = events.flatMap((each) => this.#linter?.check(each) ?? []);
    const about = aboutOf(last);
    const gist = last ? gistOfEvent(last) : 'an event that says nothing';
    return { ...about, gist, model: events.length === 1 ? last : events, ...found(findings) };
  }

  #error(error: A2AError): Meaning {
    const { reason, message, details } = error;
    const model = { reason, message, ...(Object.keys(details).length > 0 && { details }) };
    return { ...this.#known(), gist: gistOfError(error), model, isError: true };
  }

  #isResumed(): boolean {
    return this.#head.headers['last-event-id'] !== undefined;
  }

  #opening() {
    const message = { messageId: '', role: 'user' as const, parts: [] };
    const request = this.#request as { id?: string; message?: typeof message } | undefined;
    if (request?.message) return request as { message: typeof message };
    return { message, ...(request?.id !== undefined && { claimedTaskId: request.id }) };
  }

  #known(): Omit<Meaning, 'gist'> {
    if (this.#isCard) return { operation: 'card' };
    if (!this.#asked) return {};
    const { version, binding, operation } = this.#asked;
    return { version, binding: binding satisfies Binding, operation };
  }

  #versionText(): string | undefined {
    const header = this.#head.headers['a2a-version'];
    const given = typeof header === 'string' ? header : header?.[0];
    if (given !== undefined && given !== '') return given;
    return /[?&]a2a-version=([^&#]*)/i.exec(this.#head.url)?.[1];
  }
}

function found(findings: readonly Finding[]): { findings?: readonly Finding[] } {
  return findings.length === 0 ? {} : { findings };
}
