import type { Metadata } from './part.ts';

/** All supported protocol versions. */
export type ProtocolVersion = '0.1' | '0.2' | '0.3' | '1.0';

/** Transport of HTTP clients and servers; the `protocolBinding` of A2A 1.0. */
export type Transport = 'JSONRPC' | 'HTTP+JSON' | 'GRPC';

/** A protocol version over a transport. */
export interface ProtocolVariant<V extends string = ProtocolVersion, T extends string = Transport> {
  readonly version: V;
  readonly transport: T;
}

/** Formats a variant as `1.0/JSONRPC`. */
export function formatVariant({ version, transport }: ProtocolVariant<string, string>): string {
  return `${version}/${transport}`;
}

/** Parses the text form of {@link formatVariant}. @returns undefined if version or transport is unknown */
export function parseVariant(text: string): ProtocolVariant | undefined {
  const [, version, transport] = /^(0\.[123]|1\.0)\/(JSONRPC|HTTP\+JSON|GRPC)$/.exec(text) ?? [];
  if (version === undefined) return undefined;
  return { version: version as ProtocolVersion, transport: transport as Transport };
}

/** URL, transport and version at which an agent is reachable. */
export interface AgentInterface {
  url: string;
  /** `JSONRPC`, `HTTP+JSON`, `GRPC` or the URI of a custom binding. */
  protocolBinding: string;
  /** Major and minor, such as `1.0`. */
  protocolVersion: string;
  /** Opaque; clients send it with every request. */
  tenant?: string;
}

/** An extension that an agent supports or requires. */
export interface AgentExtension {
  uri: string;
  description?: string;
  required?: boolean;
  params?: Metadata;
}

/** Optional features of an agent. Absent means false. */
export interface AgentCapabilities {
  streaming?: boolean;
  pushNotifications?: boolean;
  extendedAgentCard?: boolean;
  extensions?: AgentExtension[];
  /** Only in 0.1 to 0.3. */
  stateTransitionHistory?: boolean;
}

/** One OAuth 2 flow. The flow determines which URLs are present. */
export interface OAuthFlow {
  authorizationUrl?: string;
  tokenUrl?: string;
  refreshUrl?: string;
  deviceAuthorizationUrl?: string;
  scopes?: { [scope: string]: string };
  pkceRequired?: boolean;
}

/** The names of the OAuth 2 flows. */
export type OAuthFlowName =
  | 'authorizationCode'
  | 'clientCredentials'
  | 'implicit'
  | 'password'
  | 'deviceCode';

/** Authentication method of clients. */
export type SecurityScheme =
  | { type: 'apiKey'; location: 'header' | 'query' | 'cookie'; name: string; description?: string }
  | { type: 'http'; scheme: string; bearerFormat?: string; description?: string }
  | {
      type: 'oauth2';
      flows: { [name in OAuthFlowName]?: OAuthFlow };
      oauth2MetadataUrl?: string;
      description?: string;
    }
  | { type: 'openIdConnect'; openIdConnectUrl: string; description?: string }
  | { type: 'mutualTLS'; description?: string };

/** Schemes that must be satisfied together, each with its scopes. A list of requirements is a list of alternatives. */
export type SecurityRequirement = { [scheme: string]: string[] };

/** Capability of an agent. */
export interface AgentSkill {
  id: string;
  name: string;
  description: string;
  tags: string[];
  examples?: string[];
  inputModes?: string[];
  outputModes?: string[];
  securityRequirements?: SecurityRequirement[];
}

/** Detached JSON Web Signature of the card. */
export interface AgentCardSignature {
  protected: string;
  signature: string;
  header?: Metadata;
}

/** Description of an agent: identity, capabilities, interfaces and security. */
export interface AgentCard {
  name: string;
  description: string;
  version: string;
  /** In order of preference. */
  interfaces: AgentInterface[];
  capabilities: AgentCapabilities;
  defaultInputModes: string[];
  defaultOutputModes: string[];
  skills: AgentSkill[];
  provider?: { organization: string; url?: string };
  documentationUrl?: string;
  iconUrl?: string;
  securitySchemes?: { [name: string]: SecurityScheme };
  securityRequirements?: SecurityRequirement[];
  signatures?: AgentCardSignature[];
}

/**
 * URI of the card extension with the schemas of skills: `input_schema` and `output_schema`, for all skills or, under
 * `skills`, by skill id.
 */
export const schemasExtension = 'https://solace.com/a2a/extensions/sam/schemas';

/** URI of the card extension of agents that recognize repeated requests by the header `Idempotency-Key`. */
export const idempotencyExtension =
  'https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/';

/** Returns true if the agent recognizes repeated requests, so that a client may safely send a request again. */
export function recognizesRepeats({ capabilities }: AgentCard): boolean {
  return capabilities.extensions?.some(({ uri }) => uri === idempotencyExtension) ?? false;
}
