import { parseVersionHeader } from '../../dialects/negotiation.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { writeHybridCard } from '../../dialects/hybrid-card.ts';
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
import { computeEtag, hasCurrentCopy } from './etag.ts';
import {
  type HttpServerRequest,
  singleHeader,
  jsonResponse,
  type HttpServerResponse,
} from '../http/http-message.ts';
import type { ServerOptions } from '../server-options.ts';
import { forwardedHeaders, resolvePublicUrl } from './public-url.ts';

/** A serialized card with its response headers. */
interface SerializedCard {
  text: string;
  /** Length in bytes. */
  length: number;
  etag: string;
  headers: string[];
}

/** What of a card depends on the request. */
interface CardView {
  readonly url: string;
  readonly interfaces: readonly AgentInterface[];
  /** Identifies the view in caches. */
  readonly key: string;
}

/** Errors of an agent without extended card. */
const noExtendedCardReasons: ReadonlySet<ErrorReason> = new Set([
  'UNSUPPORTED_OPERATION',
  'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
]);

/** Maximum number of cached variants of one card: few versions times few host names. */
const maxVariants = 64;

/** Returns the interfaces of all versions at a URL, without those of gRPC. */
function interfacesAt(url: string): AgentInterface[] {
  return [
    { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    { url, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
    { url, protocolBinding: 'JSONRPC', protocolVersion: '0.1' },
  ];
}

/**
 * Returns the interfaces of gRPC at the server of a URL. A gRPC method is a path of its own, so that there are none below
 * another path, except at a server with several agents, where the tenant names the agent. 0.3 has no tenants.
 */
function grpcInterfacesAt(url: string, tenant: string | undefined, basePath: string): AgentInterface[] {
  const { host, pathname, port, protocol } = new URL(url);
  if (pathname !== (tenant === undefined ? '/' : basePath)) return [];
  const defaultPort = protocol === 'https:' ? 443 : 80;
  const address = port === '' ? `${host}:${defaultPort}` : host;
  const newest: AgentInterface = { url: address, protocolBinding: 'GRPC', protocolVersion: '1.0' };
  return tenant === undefined ? [newest, { ...newest, protocolVersion: '0.3' }] : [{ ...newest, tenant }];
}

/** Serves the agent card in the requested version, with the URL at which the client reached the server. */
export class CardService {
  readonly #agent: Agent;
  readonly #options: ServerOptions;
  readonly #authenticators: AuthenticatorChain | undefined;
  /** Serialized cards by card object, because a remote agent may change its card, then by format and URL. */
  readonly #serialized = new WeakMap<AgentCard, Map<string, SerializedCard>>();
  readonly #signer: CardSigner | undefined;
  /** True if the server accepts HTTP/2 connections for gRPC. */
  hasGrpc = false;
  /** Tenant that names the agent over gRPC, on a server with several agents. */
  grpcTenant: string | undefined = undefined;
  /** Signed cards by card object and URL. */
  readonly #signedCards = new WeakMap<AgentCard, Map<string, Promise<AgentCard | undefined>>>();

  constructor(agent: Agent, options: ServerOptions, authenticators?: AuthenticatorChain) {
    this.#agent = agent;
    this.#options = options;
    this.#authenticators = authenticators;
    this.#signer = options.signCard && new CardSigner(options, options.signCard);
  }

  /** Handles a request for `agent-card.json`, or for `agent.json`, the path of older clients. */
  async handle(
    request: HttpServerRequest,
    isOldPath: boolean,
    versionText: string | undefined,
  ): Promise<HttpServerResponse> {
    const version = supportedVersion(versionText);
    const card = await this.#agent.card(new HttpCallContext(request, version ?? '0.3', undefined));
    const format = version ?? (isOldPath ? 'old' : 'any');
    const view = this.#viewOf(request);
    const variants = variantsOf(this.#serialized, card);
    const key = `${format} ${view.key}`;
    let serialized = variants.get(key);
    if (!serialized) {
      if (this.#signer && (version === undefined || version === '1.0')) {
        const signed = await this.sign(card, request);
        // A card without signature is not cached, so that the next request can get a signed one.
        if (!signed.signatures) return this.#respond(request, this.#serialize(signed, format, 0));
        serialized = this.#serialize(signed, format);
      } else serialized = this.#serialize(this.#withInterfacesOf(card, view), format);
      addVariant(variants, key, serialized);
    }
    return this.#respond(request, serialized);
  }

  #respond(request: HttpServerRequest, serialized: SerializedCard): HttpServerResponse {
    if (hasCurrentCopy(singleHeader(request.headers, 'if-none-match'), serialized.etag))
      return { status: 304, headers: serialized.headers, body: undefined };
    return { status: 200, headers: serialized.headers, body: serialized.text, length: serialized.length };
  }

  /** Handles a request for the extended card at its 0.2 path, which is not part of the REST transport. */
  async handleExtended(
    request: HttpServerRequest,
    authorizer: Authorizer | undefined,
    checkPolicy?: () => Promise<void>,
  ): Promise<HttpServerResponse> {
    const call = new HttpCallContext(request, '0.2', undefined);
    await authorizer?.check(request, { operation: 'extendedCard', request: {}, call });
    await checkPolicy?.();
    try {
      const card = await this.#agent.extendedCard(call);
      return jsonResponse(200, JSON.stringify(v0_3.card.write(this.withInterfaces(card, request))));
    } catch (error) {
      const isMissing = error instanceof A2AError && noExtendedCardReasons.has(error.reason);
      throw isMissing ? new A2AError('NOT_FOUND', error.message, { cause: error }) : error;
    }
  }

  /** Returns the card with the interfaces of this server. */
  withInterfaces(card: AgentCard, request: HttpServerRequest): AgentCard {
    return this.#withInterfacesOf(card, this.#viewOf(request));
  }

  /** Returns the card with interfaces and, if configured and possible, a signature. Only 1.0 cards are signed. */
  async sign(card: AgentCard, request: HttpServerRequest): Promise<AgentCard> {
    const view = this.#viewOf(request);
    const { url, key } = view;
    const cardWithInterfaces = this.#withInterfacesOf(card, view);
    const signer = this.#signer;
    if (!signer) return cardWithInterfaces;
    const cached = variantsOf(this.#signedCards, card);
    const signing = cached.get(key) ?? addVariant(cached, key, signer.sign(cardWithInterfaces, url, request));
    const signed = await signing;
    if (!signed && cached.get(key) === signing) cached.delete(key);
    return signed ?? cardWithInterfaces;
  }

  #withInterfacesOf(card: AgentCard, { interfaces }: CardView): AgentCard {
    // The card gets other interfaces, so a signature of the upstream agent is no longer valid.
    const { signatures: _void, ...rest } = this.#authenticators
      ? withSecuritySchemes(card, this.#authenticators)
      : card;
    return { ...rest, interfaces: [...interfaces] };
  }

  /** Returns what of the card depends on the request. */
  #viewOf(request: HttpServerRequest): CardView {
    const url = resolvePublicUrl(request, this.#options);
    const { policy } = this.#options;
    if (!policy) return { url, key: url, interfaces: this.#interfacesAt(url) };
    const principal = request.authentication?.principal;
    const interfaces = this.#interfacesAt(url).filter((each) => policy.offers(each, principal));
    const offered = interfaces.map(
      ({ protocolBinding, protocolVersion }) => protocolBinding + protocolVersion,
    );
    return { url, key: [url, ...offered].join(' '), interfaces };
  }

  #interfacesAt(url: string): AgentInterface[] {
    const { onlyVersion, basePath = '' } = this.#options;
    // 0.2 has no interface of its own beside that of 0.3, with which it shares its format.
    if (onlyVersion === '0.2') return [{ url, protocolBinding: 'JSONRPC', protocolVersion: '0.2' }];
    const isServed = ({ protocolVersion }: AgentInterface) =>
      (onlyVersion ?? protocolVersion) === protocolVersion;
    const grpc = this.hasGrpc ? grpcInterfacesAt(url, this.grpcTenant, basePath) : [];
    return [...interfacesAt(url), ...grpc].filter(isServed);
  }

  #serialize(
    cardWithInterfaces: AgentCard,
    format: ProtocolVersion | 'old' | 'any',
    maxAge = this.#options.cardMaxAge ?? 300,
  ): SerializedCard {
    const text = JSON.stringify(toCardJson(cardWithInterfaces, format));
    const etag = computeEtag(text);
    const { policy, trustForwarded } = this.#options;
    const vary = [
      'A2A-Version, Host',
      ...(trustForwarded ? [forwardedHeaders] : []),
      ...(policy ? ['Authorization'] : []),
    ];
    const headers = [
      'Content-Type',
      'application/json',
      'Cache-Control',
      `${policy ? 'private' : 'public'}, max-age=${maxAge}`,
      'ETag',
      etag,
      'Vary',
      vary.join(', '),
    ];
    return { text, length: new TextEncoder().encode(text).length, etag, headers };
  }
}

/** Returns the cached variants of a card. */
function variantsOf<T>(cache: WeakMap<AgentCard, Map<string, T>>, card: AgentCard): Map<string, T> {
  let variants = cache.get(card);
  if (!variants) cache.set(card, (variants = new Map()));
  return variants;
}

/** Adds a variant. Clients choose host names, so the number of variants must be bounded. */
function addVariant<T>(variants: Map<string, T>, key: string, value: T): T {
  if (variants.size >= maxVariants) variants.clear();
  variants.set(key, value);
  return value;
}

/** Returns undefined for unsupported versions: such a client reads the supported ones from the card. */
function supportedVersion(text: string | undefined): ProtocolVersion | undefined {
  try {
    return parseVersionHeader(text);
  } catch {
    return undefined;
  }
}

const dialects: { readonly [format in ProtocolVersion]: Dialect } = {
  '0.1': v0_1,
  '0.2': v0_3,
  '0.3': v0_3,
  '1.0': v1_0,
};

/**
 * Serializes a card. Without requested version the card is readable by clients of 1.0, 0.3 and 0.2, and on the old path by
 * those of 0.1 as well.
 */
function toCardJson(card: AgentCard, format: ProtocolVersion | 'old' | 'any'): unknown {
  if (format !== 'old' && format !== 'any') return dialects[format].card.write(card);
  const hybrid = writeHybridCard(card);
  if (format === 'any') return hybrid;
  return { ...(v0_1.card.write(card) as object), ...hybrid, skills: withModes(hybrid.skills, card) };
}

/** 0.1 clients expect media types in each skill; 0.2 made the defaults of the card apply. */
function withModes(skills: unknown, { defaultInputModes, defaultOutputModes }: AgentCard): unknown[] {
  return (skills as object[]).map((skill) => ({
    inputModes: defaultInputModes,
    outputModes: defaultOutputModes,
    ...skill,
  }));
}
