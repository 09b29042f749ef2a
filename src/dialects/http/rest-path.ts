import type { JsonObject } from '../../primitives/json.ts';
import { stripTrailing } from '../../primitives/text.ts';

/** Inserts path parameters into the template of a route. @returns the path, and the parameters that it has no place for */
export function expandRoutePath(
  template: string,
  params: JsonObject | undefined,
): { path: string; rest: JsonObject } {
  const rest: JsonObject = { ...params };
  const used: string[] = [];
  const path = template.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    used.push(name);
    return encodeURIComponent(formatScalar(rest[name]));
  });
  for (const name of used) delete rest[name];
  return { path, rest };
}

/** Appends the path of a route to the path of an interface. Some cards list a URL that already ends with the version. */
export function joinRoutePath(basePath: string, path: string): string {
  const base = stripTrailing(basePath, '/');
  return base + (path.startsWith('/v1/') && base.endsWith('/v1') ? path.slice(3) : path);
}

/** Formats parameters as a query with its question mark; the empty text if there are none. */
export function formatRestQuery(params: JsonObject): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null) query.set(name, formatScalar(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

function formatScalar(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
