import type { MsgHdrs } from '@nats-io/transport-node';
import type { MessageProperties, MessageProperty } from '../broker-connection.ts';

/** The header that has all properties, as JSON in ASCII: a header takes neither line ends nor every name. */
export const propertiesHeader = 'Dragoman-Properties';

/** Writes properties as the text of one header. */
export function encodePropertiesHeader(properties: MessageProperties): string {
  return JSON.stringify(properties).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Reads properties; the headers of a stranger are texts. */
export function decodePropertiesHeader(headers: MsgHdrs | undefined): MessageProperties {
  const properties: { [name: string]: MessageProperty } = {};
  for (const name of headers?.keys() ?? [])
    if (name !== propertiesHeader && !/^nats-/i.test(name)) properties[name] = headers?.last(name) ?? '';
  const text = headers?.get(propertiesHeader);
  if (!text) return properties;
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === 'object' && read !== null
      ? { ...properties, ...(read as MessageProperties) }
      : properties;
  } catch {
    return properties;
  }
}
