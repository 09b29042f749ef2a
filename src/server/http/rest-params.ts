import { A2AError } from '../../protocol/errors.ts';
import { noParams } from './route-table.ts';

const numeric = new Set(['historyLength', 'history_length', 'pageSize', 'page_size']);
const boolean = new Set(['includeArtifacts', 'include_artifacts']);

/**
 * Lays body, query and path together, the strongest last, as the dialect's readers want it.
 *
 * @param query - without its question mark.
 */
export function mergeRestParams(query: string, path: Record<string, string>, body: unknown): unknown {
  if (body !== undefined && body !== null && (typeof body !== 'object' || Array.isArray(body))) {
    throw new A2AError('INVALID_PARAMS', 'The body must be a JSON object');
  }
  if (query === '' && path === noParams) return body ?? {};
  const whole: Record<string, unknown> = { ...body };
  if (query !== '') {
    for (const [name, value] of new URLSearchParams(query)) {
      if (name.toLowerCase() === 'a2a-version' || name === '__proto__') continue;
      if (numeric.has(name))
        whole[name] = value === '' || Number.isNaN(Number(value)) ? value : Number(value);
      else if (boolean.has(name)) whole[name] = value === 'true' ? true : value === 'false' ? false : value;
      else whole[name] = value;
    }
  }
  return Object.assign(whole, path);
}
