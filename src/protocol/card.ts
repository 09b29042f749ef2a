import type { Metadata } from './part.ts';

/** All supported protocol versions. */
export type ProtocolVersion = '0.1' | '0.2' | '0.3' | '1.0';

/** Transport of HTTP clients and servers; the `protocolBinding` of A2A 1.0. */
export type Transport = 'JSONRPC' | 'HTTP+JSON';

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
  const [, version, transport] = /^(0\.[123]|1\.0)\/(JSONRPC|HTTP\+JSON)$/.exec(text) ?? [];
  if (version === undefined) return undefined;
  return { version: version as ProtocolVersion, transport: transport as Transport };
}

/** One way to reach an agent. */
export interface AgentInterface {
  url: string;
  /** `JSONRPC`, `HTTP+JSON`, `GRPC`, or a URI of somebody's own. */
  protocolBinding: string;
  /** Major and minor, such as `1.0`. */
  protocolVersion: string;
  /** Opaque; a client repeats it in every request. */
  tenant?: string;
}

/** An extension an agent supports or needs. */
export interface AgentExtension {
  uri: string;
  description?: string;
  required?: boolean;
  params?: Metadata;
}

/** What an agent can do beside answering. Absent means no. */
export interface AgentCapabilities {
  streaming?: boolean;
  pushNotifications?: boolean;
  extendedAgentCard?: boolean;
  extensions?: AgentExtension[];
  /** Known to 0.1 – 0.3 only. */
  stateTransitionHistory?: boolean;
}

/** One OAuth 2 flow. Which addresses it has depends on the flow. */
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

/** How a caller may prove who it is. */
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

/** Schemes that are all needed together, each with its scopes; a list of these is a list of alternatives. */
export type SecurityRequirement = { [scheme: string]: string[] };

/** Something an agent can do. */
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

/** A detached JSON Web Signature over the card. */
export interface AgentCardSignature {
  protected: string;
  signature: string;
  header?: Metadata;
}

/** Who an agent is, what it can do and how to reach it. */
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
