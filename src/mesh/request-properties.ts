import { parseJsonOrUndefined } from '../primitives/json.ts';
import type { MessageProperties, MessageProperty } from './brokers/broker-connection.ts';
import { isTopic } from './mesh-topics.ts';

/** Who asks when nobody says. */
export const defaultUser = 'default_user';

type Dictionary = { readonly [name: string]: MessageProperty };

/** What the user properties of a request say, whatever form the broker left them in. */
export interface RequestProperties {
  /** Where the one answer goes. */
  readonly replyTo: string | undefined;
  /** Where updates go. */
  readonly statusTopic: string | undefined;
  /** The gateway, or the agent that delegates. */
  readonly clientId: string | undefined;
  /** Whose request it is; undefined when nobody said. */
  readonly userId: string | undefined;
  readonly userConfig: Dictionary;
  readonly gatewayCapabilities: Dictionary;
  /** How many agents delegated before. */
  readonly callDepth: number;
  readonly delegatingAgent: string | undefined;
  readonly traceId: string | undefined;
  /** URIs of the extensions that the caller asks for. */
  readonly extensions: readonly string[];
}

/** Reads the user properties of a request. What cannot be read counts as absent: they are a peer's word. */
export function parseRequestProperties(properties: MessageProperties): RequestProperties {
  const extensions = textOf(properties.a2aExtensions);
  return {
    replyTo: topicOf(properties.replyTo),
    statusTopic: topicOf(properties.a2aStatusTopic) ?? topicOf(properties.statusTo),
    clientId: textOf(properties.clientId),
    userId: textOf(properties.userId),
    userConfig: dictionaryOf(properties.a2aUserConfig),
    gatewayCapabilities: dictionaryOf(properties.gatewayCapabilities),
    callDepth: countOf(properties.callDepth),
    delegatingAgent: textOf(properties.delegating_agent_name),
    traceId: textOf(properties.traceId),
    extensions: extensions === undefined ? [] : extensions.split(/\s*,\s*/).filter((uri) => uri !== ''),
  };
}

/** What a request says beside its payload. */
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
 * Writes the user properties of a request. What is no text is written only where somebody asked for it: peers in
 * Python stumble over a number or a map that a broker turned into text.
 */
export function buildRequestProperties(asking: RequestPropertiesInput): MessageProperties {
  const { replyTo, statusTopic, clientId, userId, userConfig, callDepth, delegatingAgent } = asking;
  const properties: { [name: string]: MessageProperty } = { clientId, userId, timestamp: asking.timestamp };
  if (replyTo !== undefined) properties.replyTo = replyTo;
  if (statusTopic !== undefined) properties.a2aStatusTopic = statusTopic;
  if (userConfig !== undefined) properties.a2aUserConfig = userConfig;
  if (callDepth !== undefined) properties.callDepth = callDepth;
  if (delegatingAgent !== undefined) properties.delegating_agent_name = delegatingAgent;
  if (asking.extensions && asking.extensions.length > 0) {
    properties.a2aExtensions = asking.extensions.join(',');
  }
  return properties;
}

function textOf(value: MessageProperty | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A peer says where its answer goes, so it must be a place for one message. */
function topicOf(value: MessageProperty | undefined): string | undefined {
  return typeof value === 'string' && isTopic(value) ? value : undefined;
}

function countOf(value: MessageProperty | undefined): number {
  const count = typeof value === 'string' ? Number(value) : value;
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 ? count : 0;
}

/** A map, or one that became text on its way through a broker. */
function dictionaryOf(value: MessageProperty | undefined): Dictionary {
  const read = typeof value === 'string' ? parseJsonOrUndefined(value) : value;
  return typeof read === 'object' && read !== null && !Array.isArray(read) ? (read as Dictionary) : {};
}
