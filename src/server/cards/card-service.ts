import { parseVersionHeader } from '../../dialects/negotiation.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { v0_1 } from '../../dialects/v0_1/index.ts';
import { v0_3 } from '../../dialects/v0_3/index.ts';
import { v1_0 } from '../../dialects/v1_0/index.ts';
import type { Agent } from '../../protocol/agent.ts';
import type { AgentCard, AgentInterface, ProtocolVersion } from '../../protocol/card.ts';
import { A2AError, type ErrorReason } from '../../protocol/errors.ts';
import type { Authorizer } from '../auth/authorizer.ts';
import type { AuthenticatorChain } from '../auth/authenticator-chain.ts';
import { withSecuritySchemes } from '../auth/security-requirements.ts';
import { HttpCallContext } from '../operations/http-call-context.ts';
import { CardSigner } from './card-signer.ts';
import { computeEtag } from './etag.ts';
import {
  type HttpServerRequest,
  singleHeader,
  jsonResponse,
  type HttpServerResponse,
} from '../http/http-message.ts';
import type { ServerOptions } from '../server-options.ts';
import { forwardedHeaders, resolvePublicUrl } from './public-url.ts';

/** A card as it goes out. */
interface WrittenCard {
  text: string;
  /** In bytes. */
  length: number;
  etag: string;
  headers: string[];
}

/** What an agent without an extended card says. */
const noCard: ReadonlySet<ErrorReason> = new Set([
  'UNSUPPORTED_OPERATION',
  'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
]);

/** How many ways of writing one card are kept: few versions times few host names. */
const maxWritten = 64;

/** The addresses at which an agent speaks each version. */
function interfacesAt(url: string): AgentInterface[] {
  const at = (protocolBinding: string, protocolVersion: string): AgentInterface => ({
    url,
    protocolBinding,
    protocolVersion,
  });
  return [
    at('JSONRPC', '1.0'),
    at('HTTP+JSON', '1.0'),
    at('JSONRPC', '0.3'),
    at('HTTP+JSON', '0.3'),
    at('JSONRPC', '0.1'),
  ];
}

/** Serves the card of an agent, in the version of its reader and with the address it was reached at. */
export class CardService {
  readonly #agent: Agent;
  readonly #options: ServerOptions;
  readonly #gate: AuthenticatorChain | undefined;
  /** By card, because an agent elsewhere may change its card; then by address and form. */
  readonly #written = new WeakMap<AgentCard, Map<string, WrittenCard>>();
  readonly #signer: CardSigner | undefined;
  /** Signed cards by the card that they were made of, and by address. */
  readonly #signed = new WeakMap<AgentCard, Map<string, Promise<AgentCard | undefined>>>();

  constructor(agent: Agent, options: ServerOptions, gate?: AuthenticatorChain) {
    this.#agent = agent;
    this.#options = options;
    this.#gate = gate;
    this.#signer = options.signCard && new CardSigner(options, options.signCard);
  }

  /** Answers a request for `agent-card.json`, or for `agent.json`, which older readers ask for. */
  async answer(
    exchange: HttpServerRequest,
    isOldPath: boolean,
    versionText: string | undefined,
  ): Promise<HttpServerResponse> {
    const version = knownVersion(versionText);
    const card = await this.#agent.card(new HttpCallContext(exchange, version ?? '0.3', undefined));
    const form = version ?? (isOldPath ? 'old' : 'any');
    const url = this.#urlOf(exchange);
    const forms = formsOf(this.#written, card);
    const key = `${form} ${url}`;
    let written = forms.get(key);
    if (!written) {
      if (form === '1.0' && this.#signer) {
        const signed = await this.signed(card, exchange);
        // Without its signature a card is not kept, here or by its reader, so that the next one may have it.
        if (!signed.signatures) return this.#reply(exchange, this.#write(signed, form, 0));
        written = this.#write(signed, form);
      } else written = this.#write(this.#placedAt(card, url), form);
      keep(forms, key, written);
    }
    return this.#reply(exchange, written);
  }

  #reply(exchange: HttpServerRequest, written: WrittenCard): HttpServerResponse {
    const kept = singleHeader(exchange.headers, 'if-none-match');
    if (kept !== undefined && (kept.trim() === '*' || kept.includes(written.etag))) {
      return { status: 304, headers: written.headers, body: undefined };
    }
    return { status: 200, headers: written.headers, body: written.text, length: written.length };
  }

  /** Answers a request for the extended card where 0.2 has it; that it is plain HTTP there does not make it REST. */
  async extended(exchange: HttpServerRequest, access: Authorizer | undefined): Promise<HttpServerResponse> {
    const call = new HttpCallContext(exchange, '0.2', undefined);
    await access?.check(exchange, { operation: 'extendedCard', request: {}, call });
    try {
      const card = await this.#agent.extendedCard(call);
      return jsonResponse(200, JSON.stringify(v0_3.card.write(this.placed(card, exchange))));
    } catch (error) {
      const isNone = error instanceof A2AError && noCard.has(error.reason);
      throw isNone ? new A2AError('NOT_FOUND', error.message, { cause: error }) : error;
    }
  }

  /** The card with the addresses of this face, as the caller reached it. */
  placed(card: AgentCard, exchange: HttpServerRequest): AgentCard {
    return this.#placedAt(card, this.#urlOf(exchange));
  }

  /** The same with a signature, where that is wanted and possible. Only 1.0 has words for it. */
  async signed(card: AgentCard, exchange: HttpServerRequest): Promise<AgentCard> {
    const url = this.#urlOf(exchange);
    const placed = this.#placedAt(card, url);
    const signer = this.#signer;
    if (!signer) return placed;
    const known = formsOf(this.#signed, card);
    const signing = known.get(url) ?? keep(known, url, signer.signed(placed, url, exchange));
    const signed = await signing;
    if (!signed && known.get(url) === signing) known.delete(url);
    return signed ?? placed;
  }

  #placedAt(card: AgentCard, url: string): AgentCard {
    // What was signed elsewhere says other addresses, so the signature no longer holds.
    const { signatures: _void, ...rest } = this.#gate ? withSecuritySchemes(card, this.#gate) : card;
    const { onlyVersion: speaks } = this.#options;
    const isSpoken = ({ protocolVersion }: AgentInterface) => (speaks ?? protocolVersion) === protocolVersion;
    return { ...rest, interfaces: interfacesAt(url).filter(isSpoken) };
  }

  #urlOf(exchange: HttpServerRequest): string {
    return resolvePublicUrl(exchange, this.#options);
  }

  #write(
    placed: AgentCard,
    form: ProtocolVersion | 'old' | 'any',
    maxAge = this.#options.cardMaxAge ?? 300,
  ): WrittenCard {
    const text = JSON.stringify(writeCard(placed, form));
    const etag = computeEtag(text);
    const headers = [
      'Content-Type',
      'application/json',
      'Cache-Control',
      `public, max-age=${maxAge}`,
      'ETag',
      etag,
      'Vary',
      this.#options.trustForwarded ? `A2A-Version, Host, ${forwardedHeaders}` : 'A2A-Version, Host',
    ];
    return { text, length: new TextEncoder().encode(text).length, etag, headers };
  }
}

/** What is kept of a card. */
function formsOf<T>(kept: WeakMap<AgentCard, Map<string, T>>, card: AgentCard): Map<string, T> {
  let forms = kept.get(card);
  if (!forms) kept.set(card, (forms = new Map()));
  return forms;
}

/** Keeps one thing more. Callers choose host names, so that there may be any number. */
function keep<T>(forms: Map<string, T>, key: string, value: T): T {
  if (forms.size >= maxWritten) forms.clear();
  forms.set(key, value);
  return value;
}

/** Whoever speaks a version that is not spoken here learns from the card which ones are. */
function knownVersion(text: string | undefined): ProtocolVersion | undefined {
  try {
    return parseVersionHeader(text);
  } catch {
    return undefined;
  }
}

/**
 * A reader that names no version gets a card that every version can read: 0.3 with the addresses of 1.0 beside it,
 * and on the old path with the words of 0.1 too.
 */
function writeCard(card: AgentCard, form: ProtocolVersion | 'old' | 'any'): unknown {
  const dialects: { [form in ProtocolVersion]: Dialect } = {
    '0.1': v0_1,
    '0.2': v0_3,
    '0.3': v0_3,
    '1.0': v1_0,
  };
  if (form !== 'old' && form !== 'any') return dialects[form].card.write(card);
  const modern = v0_3.card.write(card) as object;
  const whole = { ...modern, supportedInterfaces: card.interfaces };
  return form === 'old' ? { ...(v0_1.card.write(card) as object), ...whole, skills: oldSkills(card) } : whole;
}

/** The oldest readers look for the media types at each skill; 0.2 let the defaults of the card stand for them. */
function oldSkills({ skills, defaultInputModes, defaultOutputModes }: AgentCard): unknown[] {
  return skills.map(({ securityRequirements: _newer, ...skill }) => ({
    ...skill,
    inputModes: skill.inputModes ?? defaultInputModes,
    outputModes: skill.outputModes ?? defaultOutputModes,
  }));
}
