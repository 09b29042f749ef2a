import { readJson } from '../protocol/read-json.ts';
import { isObject, type Json, textIn } from './speech/views.ts';
import type { Line } from './wire/line.ts';

/**
 * Finds out which version an agent speaks whose card could be of either: it is asked for the methods by which each of
 * them sends, without a message, which does no harm where a method is known.
 *
 * @returns undefined where the answers do not tell.
 */
export async function oldOrNew(
  line: Line,
  card: Json,
  place: string,
  headers: Readonly<Record<string, string>>,
): Promise<'0.1' | '0.3' | undefined> {
  const at = textIn(card.url);
  if (at === undefined || !URL.canParse(at, place)) return undefined;
  const url = new URL(at, place).href;
  const [later, first] = await Promise.all([
    isUnknown(line, url, headers, 'message/send'),
    isUnknown(line, url, headers, 'tasks/send'),
  ]);
  if (later === undefined || first === undefined || later === first) return undefined;
  return later ? '0.1' : '0.3';
}

/** True when an agent says that there is no such method; undefined when it says nothing that could be understood. */
async function isUnknown(
  line: Line,
  url: string,
  headers: Readonly<Record<string, string>>,
  method: string,
): Promise<boolean | undefined> {
  const { body } = await line.send({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: method, method, params: {} }),
  });
  const answer = readJson(body);
  if (!isObject(answer) || answer.jsonrpc !== '2.0') return undefined;
  return isObject(answer.error) && answer.error.code === -32601;
}
