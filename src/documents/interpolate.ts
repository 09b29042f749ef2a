/** Where values come from. */
type Environment = { readonly [name: string]: string | undefined };

const reference = /\$\{\s*([A-Za-z_]\w*)\s*(?:,\s*([^}]*?)\s*)?\}/g;

/**
 * Fills in `${NAME}` and `${NAME, default}` in every text of a document. A name that is not set and has no default
 * is handed to `missing`, with the way to it.
 */
export function interpolateVariables(
  value: unknown,
  environment: Environment,
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
