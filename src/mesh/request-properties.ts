import { isJsonObject, parseJsonOrUndefined } from '../primitives/json.ts';
import type { MessageProperties, MessageProperty } from './brokers/broker-connection.ts';
import { isTopic } from './mesh-topics.ts';

/** User property of a response that identifies it. Delivery is at least once, so a response may arrive twice. */
export const responseIdProperty = 'a2aResponseId';

/** User of requests without a user id. */
export const defaultUser = 'default_user';

/** Maximum length of names of clients, users and traces, and of the list of extensions, in characters. */
const maxTextLength = 8_192;

type Dictionary = { readonly [name: string]: MessageProperty };

/** Parsed user properties of a request. */
export interface RequestProperties {
  /** Topic of the response. */
  readonly replyTo: string | undefined;
  /** Topic of status updates. */
  readonly statusTopic: string | undefined;
  /** Gateway or delegating agent. */
  readonly clientId: string | undefined;
  /** User of the request; undefined if not stated. */
  readonly userId: string | undefined;
  readonly userConfig: Dictionary;
  readonly gatewayCapabilities: Dictionary;
  /** Number of delegations so far. */
  readonly callDepth: number;
  readonly delegatingAgent: string | undefined;
  readonly traceId: string | undefined;
  /** URIs of requested extensions. */
  readonly extensions: readonly string[];
}

/** Parses the user properties of a request, which are untrusted input. Invalid values are treated as missing. */
export function parseRequestProperties(properties: MessageProperties): RequestProperties {
  const extensions = parseText(properties.a2aExtensions);
  return {
    replyTo: parseTopic(properties.replyTo),
    statusTopic: parseTopic(properties.a2aStatusTopic) ?? parseTopic(properties.statusTo),
    clientId: parseText(properties.clientId),
    userId: parseText(properties.userId),
    userConfig: parseDictionary(properties.a2aUserConfig),
    gatewayCapabilities: parseDictionary(properties.gatewayCapabilities),
    callDepth: parseCount(properties.callDepth),
    delegatingAgent: parseText(properties.delegating_agent_name),
    traceId: parseText(properties.traceId),
    extensions: (extensions?.split(',') ?? []).flatMap((uri) => uri.trim() || []),
  };
}

/** Input of {@link buildRequestProperties}. */
export interface RequestPropertiesInput {
  readonly replyTo?: string;
  readonly statusTopic?: string;
  readonly clientId: string;
  readonly userId: string;
  readonly userConfig?: Dictionary;
  readonly callDepth?: number;
  readonly delegatingAgent?: string;
  readonly extensions?: readonly string[];
  readonly timestamp: number;
}

/**
 * Builds the user properties of a request. Values other than text are sent only if set: some Python peers fail on numbers
 * and maps that a broker converted to text.
 */
export function buildRequestProperties(input: RequestPropertiesInput): MessageProperties {
  const { replyTo, statusTopic, clientId, userId, userConfig, callDepth, delegatingAgent } = input;
  const properties: { [name: string]: MessageProperty } = { clientId, userId, timestamp: input.timestamp };
  if (replyTo !== undefined) properties.replyTo = replyTo;
  if (statusTopic !== undefined) properties.a2aStatusTopic = statusTopic;
  if (userConfig !== undefined) properties.a2aUserConfig = userConfig;
  if (callDepth !== undefined) properties.callDepth = callDepth;
  if (delegatingAgent !== undefined) properties.delegating_agent_name = delegatingAgent;
  if (input.extensions && input.extensions.length > 0) {
    properties.a2aExtensions = input.extensions.join(',');
  }
  return properties;
}

function parseText(value: MessageProperty | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' && value.length <= maxTextLength ? value : undefined;
}

/** Accepts only topics without wildcards, because a peer supplies them. */
function parseTopic(value: MessageProperty | undefined): string | undefined {
  return typeof value === 'string' && isTopic(value) ? value : undefined;
}

function parseCount(value: MessageProperty | undefined): number {
  const count = typeof value === 'string' ? Number(value) : value;
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 ? count : 0;
}

/** A map, or its JSON text from a broker that supports only text. */
function parseDictionary(value: MessageProperty | undefined): Dictionary {
  const parsed = typeof value === 'string' ? parseJsonOrUndefined(value) : value;
  return isJsonObject(parsed) ? (parsed as Dictionary) : {};
}
