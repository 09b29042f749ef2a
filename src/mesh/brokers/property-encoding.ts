import { parseJsonOrUndefined } from '../../primitives/json.ts';
import { invalidField } from '../../protocol/errors.ts';
import type { MessageProperties, MessageProperty } from './broker-connection.ts';
import { unprintable } from './topic-pattern.ts';

/** Property with a JSON list of the properties that are JSON. Other receivers treat them as text. */
const jsonMarker = 'dragoman-json';

/** Maximum number of bytes of a text in MQTT. */
const maxTextBytes = 65_535;

const unprintableCharacters = new RegExp(unprintable, 'gu');

/** Escapes characters for which a broker may close the connection. */
function formatJson(value: MessageProperty): string {
  return JSON.stringify(value).replace(unprintableCharacters, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/**
 * Encodes properties for brokers that support only text: numbers, booleans, lists, maps and texts with unprintable
 * characters become JSON.
 */
export function encodeProperties(properties: MessageProperties): { [name: string]: string } {
  const encoded: { [name: string]: string } = {};
  const jsonNames: string[] = [];
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || name === '__proto__') continue;
    if (name === '' || unprintable.test(name))
      throw invalidField('properties', 'must not have empty or unprintable names');
    const isText = typeof value === 'string' && !unprintable.test(value);
    const text = isText ? value : formatJson(value);
    if (Buffer.byteLength(text) > maxTextBytes)
      throw invalidField(`properties.${name}`, `must have at most ${maxTextBytes} bytes`);
    encoded[name] = text;
    if (!isText) jsonNames.push(name);
  }
  if (jsonNames.length > 0) encoded[jsonMarker] = JSON.stringify(jsonNames);
  return encoded;
}

/** Decodes properties of {@link encodeProperties}. Properties of other senders have no marker and stay text. */
export function decodeProperties(entries: Iterable<readonly [string, string]>): MessageProperties {
  const properties: { [name: string]: MessageProperty } = {};
  for (const [name, text] of entries) if (name !== '__proto__') properties[name] = text;
  const marker = properties[jsonMarker];
  delete properties[jsonMarker];
  const names = typeof marker === 'string' ? parseJsonOrUndefined(marker) : undefined;
  if (!Array.isArray(names)) return properties;
  for (const name of names as readonly unknown[]) {
    if (typeof name !== 'string' || !Object.hasOwn(properties, name)) continue;
    const text = properties[name];
    const value = typeof text === 'string' ? parseJsonOrUndefined(text) : undefined;
    if (value !== undefined) properties[name] = value as MessageProperty;
  }
  return properties;
}
