import type * as z from 'zod';

/** The way to something in a document. */
export type DocumentPath = readonly PropertyKey[];

interface Found {
  path: DocumentPath;
  message: string;
}

/** The way as a person writes it, such as `rules[0].when`. */
export function formatPath(path: DocumentPath): string {
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`;
    else text += text === '' ? String(key) : `.${String(key)}`;
  }
  return text;
}

/** What is wrong, in plain words; an unknown key is complained about where it stands. */
export function toDiagnostics(issues: readonly z.core.$ZodIssue[], around: DocumentPath = []): Found[] {
  return issues.flatMap((issue): Found[] => {
    const path = [...around, ...issue.path];
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({ path: [...path, key], message: 'this key is not known here' }));
    if (issue.code === 'invalid_union' && issue.errors.length > 0) {
      const closest = closestOf(issue.errors);
      if (closest) return toDiagnostics(closest, path);
    }
    return [{ path, message: plain(issue) }];
  });
}

/** Of several forms that a thing may have, what is wrong with the one that was probably meant. */
function closestOf(
  errors: readonly (readonly z.core.$ZodIssue[])[],
): readonly z.core.$ZodIssue[] | undefined {
  // A form that fails at the thing itself was not meant; the one with the fewest mistakes inside was.
  const meant = errors.filter((issues) =>
    issues.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'),
  );
  return meant.toSorted((a, b) => weight(a) - weight(b))[0];
}

/** A wrong literal says that another form was meant. */
function weight(issues: readonly z.core.$ZodIssue[]): number {
  let sum = 0;
  for (const { code } of issues) sum += code === 'invalid_value' ? 10 : 1;
  return sum;
}

function plain(issue: z.core.$ZodIssue): string {
  if (issue.input === undefined && issue.code === 'invalid_type') return 'is missing';
  return issue.message
    .replace(/^Invalid input: /, '')
    .replace(/^Invalid input$/, 'has none of the forms it may have');
}
