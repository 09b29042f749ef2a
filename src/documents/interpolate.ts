import type { EnvironmentVariables } from './read-config.ts';

const reference = /\$\{\s*([A-Za-z_]\w*)\s*(?:,\s*([^}]*?)\s*)?\}/g;

/**
 * Replaces `${NAME}` and `${NAME, default}` in all texts of a document. A variable without value and default is reported
 * to `missing` with the path of the text.
 */
export function interpolateVariables(
  value: unknown,
  environment: EnvironmentVariables,
  missing: (path: PropertyKey[], name: string) => void,
  path: PropertyKey[] = [],
): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(reference, (_, name: string, fallback: string | undefined) => {
      const found = environment[name] ?? fallback?.replace(/^(["'])(.*)\1$/, '$2');
      if (found === undefined) missing(path, name);
      return found ?? '';
    });
  }
  if (Array.isArray(value))
    return value.map((each, index) => interpolateVariables(each, environment, missing, [...path, index]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      interpolateVariables(each, environment, missing, [...path, key]),
    ]),
  );
}
