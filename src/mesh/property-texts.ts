import type { Properties, Property } from './link.ts';

/** Names, as a JSON list, the properties that were no text; whoever does not know this name reads text. */
const mark = 'dragoman-json';

/** Writes properties for brokers that know only text: numbers, booleans, lists and maps as JSON. */
export function writeTexts(properties: Properties): { [name: string]: string } {
  const texts: { [name: string]: string } = {};
  const marked: string[] = [];
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || name === '__proto__') continue;
    texts[name] = typeof value === 'string' ? value : JSON.stringify(value);
    if (typeof value !== 'string') marked.push(name);
  }
  if (marked.length > 0) texts[mark] = JSON.stringify(marked);
  return texts;
}

/** Reads what {@link writeTexts} wrote. What a stranger sent without our mark stays text. */
export function readTexts(texts: Iterable<readonly [string, string]>): Properties {
  const properties: { [name: string]: Property } = {};
  for (const [name, text] of texts) if (name !== '__proto__') properties[name] = text;
  const marked = properties[mark];
  delete properties[mark];
  const names = typeof marked === 'string' ? parse(marked) : undefined;
  if (!Array.isArray(names)) return properties;
  for (const name of names as readonly Property[]) {
    const text = typeof name === 'string' && Object.hasOwn(properties, name) ? properties[name] : undefined;
    const value = typeof text === 'string' ? parse(text) : undefined;
    if (value !== undefined) properties[String(name)] = value;
  }
  return properties;
}

function parse(text: string): Property | undefined {
  try {
    return JSON.parse(text) as Property;
  } catch {
    return undefined;
  }
}
