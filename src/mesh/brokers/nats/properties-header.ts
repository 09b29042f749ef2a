import { asJsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import type { MsgHdrs } from '@nats-io/transport-node';
import type { MessageProperties, MessageProperty } from '../broker-connection.ts';

/** Header with all properties as ASCII JSON, because a header supports neither line breaks nor all names. */
export const propertiesHeader = 'Dragoman-Properties';

/** Encodes properties as a header value. */
export function encodePropertiesHeader(properties: MessageProperties): string {
  return JSON.stringify(properties).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Decodes properties. Headers of other senders become text properties. */
export function decodePropertiesHeader(headers: MsgHdrs | undefined): MessageProperties {
  const properties: { [name: string]: MessageProperty } = {};
  for (const name of headers?.keys() ?? [])
    if (name !== propertiesHeader && !/^nats-/i.test(name)) properties[name] = headers?.last(name) ?? '';
  const text = headers?.get(propertiesHeader);
  return {
    ...properties,
    ...(asJsonObject(parseJsonOrUndefined(text ?? '')) as MessageProperties | undefined),
  };
}
