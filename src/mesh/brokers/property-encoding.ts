import { invalidField } from '../../protocol/errors.ts';
import type { MessageProperties, MessageProperty } from './broker-connection.ts';
import { unprintable } from './topic-pattern.ts';

/** Names, as a JSON list, the properties that are JSON; whoever does not know this name reads text. */
const mark = 'dragoman-json';

/** The longest text that MQTT has a length for. */
const longestText = 65_535;

const everyUnprintable = new RegExp(unprintable, 'gu');

/** JSON without characters for which a broker may break the connection. */
function writeJson(value: MessageProperty): string {
  return JSON.stringify(value).replace(everyUnprintable, (character) =>
    [...Array(character.length).keys()]
      .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/**
 * Writes properties for brokers that know only text: numbers, booleans, lists and maps as JSON, and texts with
 * characters that a broker refuses, such as line ends, too.
 */
export function encodeProperties(properties: MessageProperties): { [name: string]: string } {
  const texts: { [name: string]: string } = {};
  const marked: string[] = [];
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || name === '__proto__') continue;
    if (name === '' || unprintable.test(name))
      throw invalidField('properties', 'has a name that cannot be sent');
    const isText = typeof value === 'string' && !unprintable.test(value);
    const text = isText ? value : writeJson(value);
    if (Buffer.byteLength(text) > longestText)
      throw invalidField(`properties.${name}`, `is longer than ${longestText} bytes`);
    texts[name] = text;
    if (!isText) marked.push(name);
  }
  if (marked.length > 0) texts[mark] = JSON.stringify(marked);
  return texts;
}

/** Reads what {@link encodeProperties} wrote. What a stranger sent without our mark stays text. */
export function decodeProperties(texts: Iterable<readonly [string, string]>): MessageProperties {
  const properties: { [name: string]: MessageProperty } = {};
  for (const [name, text] of texts) if (name !== '__proto__') properties[name] = text;
  const marked = properties[mark];
  delete properties[mark];
  const names = typeof marked === 'string' ? parse(marked) : undefined;
  if (!Array.isArray(names)) return properties;
  for (const name of names as readonly MessageProperty[]) {
    if (typeof name !== 'string' || !Object.hasOwn(properties, name)) continue;
    const text = properties[name];
    const value = typeof text === 'string' ? parse(text) : undefined;
    if (value !== undefined) properties[name] = value;
  }
  return properties;
}

function parse(text: string): MessageProperty | undefined {
  try {
    return JSON.parse(text) as MessageProperty;
  } catch {
    return undefined;
  }
}
