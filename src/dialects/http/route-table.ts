import type { Dialect, RestRoute } from '../dialect.ts';
import { invalidField } from '../../protocol/errors.ts';

/** A matched route with its path parameters. */
export interface RouteMatch {
  route: RestRoute;
  params: Record<string, string>;
}

/** Parameters of a path without parameters; compared by identity. */
export const noParams: Record<string, string> = {};

/** Result of a lookup: a route, the allowed methods of the path, or undefined. */
export type RouteLookup = RouteMatch | { allowed: string[] } | undefined;

interface Pattern {
  names: string[];
  byVerb: Map<string, RestRoute>;
}

/** The REST routes of a dialect, found by path. */
export class RouteTable {
  /** Patterns by their path with `*` for each parameter. */
  readonly #patterns = new Map<string, Pattern>();
  readonly #actions = new Set<string>();

  constructor(dialect: Dialect) {
    for (const route of dialect.routes) {
      const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      const shape = route.path.replace(/\{\w+\}/g, '*');
      let pattern = this.#patterns.get(shape);
      if (!pattern) this.#patterns.set(shape, (pattern = { names, byVerb: new Map() }));
      if (!pattern.byVerb.has(route.verb)) pattern.byVerb.set(route.verb, route);
      const action = /\*:(\w+)$/.exec(shape)?.[1];
      if (action) this.#actions.add(action);
    }
  }

  /** Finds the route of a path with leading slash. */
  find(verb: string, path: string): RouteLookup {
    const fixed = this.#patterns.get(path);
    if (fixed && fixed.names.length === 0) return selectMethod(fixed, verb, []);
    const segments = path.split('/');
    const values: string[] = [];
    let shape = '';
    for (let i = 1; i < segments.length; i++) {
      const segment = segments[i] ?? '';
      // Every second segment is a parameter: /tasks/{id}/pushNotificationConfigs/{id}; one segment later below /v1.
      const known = this.#patterns.has(`${shape}/${segment}`) || this.#isPrefix(`${shape}/${segment}`);
      if (known) shape += `/${segment}`;
      else {
        const colon = segment.lastIndexOf(':');
        const action = colon > 0 && i === segments.length - 1 ? segment.slice(colon + 1) : '';
        const isAction = this.#actions.has(action);
        values.push(isAction ? segment.slice(0, colon) : segment);
        shape += isAction ? `/*:${action}` : '/*';
      }
    }
    const pattern = this.#patterns.get(shape);
    if (!pattern || values.includes('') || values.length !== pattern.names.length) return undefined;
    return selectMethod(pattern, verb, values);
  }

  #isPrefix(shape: string): boolean {
    for (const known of this.#patterns.keys()) if (known.startsWith(`${shape}/`)) return true;
    return false;
  }
}

function selectMethod(pattern: Pattern, verb: string, values: string[]): RouteLookup {
  const route = pattern.byVerb.get(verb);
  if (!route) return { allowed: [...pattern.byVerb.keys()] };
  if (values.length === 0) return { route, params: noParams };
  const params: Record<string, string> = {};
  for (let i = 0; i < values.length; i++) {
    const name = pattern.names[i] ?? '';
    try {
      params[name] = decodeURIComponent(values[i] ?? '');
    } catch {
      throw invalidField(name, 'must be percent-encoded in the path');
    }
  }
  return { route, params };
}
