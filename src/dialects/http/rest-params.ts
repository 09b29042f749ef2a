import { isJsonObject } from '../../primitives/json.ts';
import { A2AError } from '../../protocol/errors.ts';
import { noParams } from './route-table.ts';

const numeric = new Set(['historyLength', 'history_length', 'pageSize', 'page_size']);
const boolean = new Set(['includeArtifacts', 'include_artifacts']);

/**
 * Merges body, query and path parameters into one object for the dialect. Later ones take precedence.
 *
 * @param query - without its question mark.
 */
export function mergeRestParams(query: string, path: Record<string, string>, body: unknown): unknown {
  if (body !== undefined && body !== null && !isJsonObject(body)) {
    throw new A2AError('INVALID_PARAMS', 'The body must be a JSON object');
  }
  if (query === '' && path === noParams) return body ?? {};
  const params: Record<string, unknown> = { ...body };
  if (query !== '') {
    for (const [name, value] of new URLSearchParams(query)) {
      if (name.toLowerCase() === 'a2a-version' || name === '__proto__') continue;
      if (numeric.has(name))
        params[name] = value === '' || Number.isNaN(Number(value)) ? value : Number(value);
      else if (boolean.has(name)) params[name] = value === 'true' ? true : value === 'false' ? false : value;
      else params[name] = value;
    }
  }
  return Object.assign(params, path);
}
