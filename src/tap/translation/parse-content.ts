import { parseJsonOrUndefined } from '../../primitives/json.ts';

/** Parses JSON, also in SSE data lines. @returns undefined for other text and truncated JSON */
export function parseContent(text: string): unknown {
  const data = text.split('\n').filter((line) => line.startsWith('data:'));
  return parseJsonOrUndefined(data.length === 0 ? text : data.map((line) => line.slice(5)).join('\n'));
}
