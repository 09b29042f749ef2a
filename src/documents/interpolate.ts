import type { EnvironmentVariables } from './read-config.ts';

const reference = /\$\{([^{}]*)\}/g;
const nameAndDefault = /^\s*([A-Za-z_]\w*)\s*(?:,([^]*))?$/;

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
    return value.replaceAll(reference, (text, inner: string) => {
      const [, name, fallback] = nameAndDefault.exec(inner) ?? [];
      if (name === undefined) return text;
      const found = environment[name] ?? (fallback === undefined ? undefined : unquote(fallback.trim()));
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

function unquote(text: string): string {
  const quote = text.charAt(0);
  const isQuoted = (quote === '"' || quote === "'") && text.length > 1 && text.endsWith(quote);
  return isQuoted ? text.slice(1, -1) : text;
}
