import type { IPublishPacket } from 'mqtt';
import type { MessageProperties } from '../broker-connection.ts';
import { decodeProperties } from '../property-encoding.ts';

/** User property with the message id, by which subscribers recognize a message that was sent again. */
export const messageIdProperty = 'dragoman-id';

/** Reads id and user properties of a message. If a name is repeated, the last value is used. */
export function readMessageProperties({ properties }: IPublishPacket): {
  id: string | undefined;
  properties: MessageProperties;
} {
  const texts = Object.entries(properties?.userProperties ?? {}).map(
    ([name, value]) => [name, typeof value === 'string' ? value : (value.at(-1) ?? '')] as const,
  );
  return {
    id: texts.find(([name]) => name === messageIdProperty)?.[1],
    properties: decodeProperties(texts.filter(([name]) => name !== messageIdProperty)),
  };
}
