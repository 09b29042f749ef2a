import type * as z from 'zod';

/** Path of a value in a document. */
export type DocumentPath = readonly PropertyKey[];

interface Issue {
  path: DocumentPath;
  message: string;
}

/** Formats a path, such as `rules[0].when`. */
export function formatPath(path: DocumentPath): string {
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`;
    else text += text === '' ? String(key) : `.${String(key)}`;
  }
  return text;
}

/** Converts zod issues to messages; an unknown key is reported at its own path. */
export function toDiagnostics(issues: readonly z.core.$ZodIssue[], parent: DocumentPath = []): Issue[] {
  return issues.flatMap((issue): Issue[] => {
    const path = [...parent, ...issue.path];
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({ path: [...path, key], message: formatUnknownKey(issue.message) }));
    if (issue.code === 'invalid_union' && issue.errors.length > 0) {
      const closest = closestVariant(issue.errors);
      if (closest) return toDiagnostics(closest, path);
    }
    return [{ path, message: formatIssue(issue) }];
  });
}

/** Returns the issues of the union member that the author probably intended. */
function closestVariant(
  errors: readonly (readonly z.core.$ZodIssue[])[],
): readonly z.core.$ZodIssue[] | undefined {
  // A member that rejects the value itself was not intended; the one with the fewest issues inside was.
  const candidates = errors.filter((issues) =>
    issues.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'),
  );
  return candidates.toSorted((a, b) => weight(a) - weight(b))[0];
}

/** A wrong literal indicates that another member was intended. */
function weight(issues: readonly z.core.$ZodIssue[]): number {
  let sum = 0;
  for (const { code } of issues) sum += code === 'invalid_value' ? 10 : 1;
  return sum;
}

/** A schema may have a message of its own, with the known keys. */
function formatUnknownKey(message: string): string {
  return message.startsWith('unknown key') ? message : 'unknown key';
}

function formatIssue(issue: z.core.$ZodIssue): string {
  if (issue.input === undefined && issue.code === 'invalid_type') return 'is missing';
  return issue.message
    .replace(/^Invalid input: /, '')
    .replace(/^Invalid input$/, 'does not match any of the allowed forms');
}
