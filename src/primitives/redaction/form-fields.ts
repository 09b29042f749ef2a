import { characterRun } from './character-run.ts';
import { replaceSecrets, type SecretPattern } from './replace-secrets.ts';

// No secret has a longer name.
const fieldStart = /(?:^|[?&\s"])([\w-]{1,50})=/g;
const value = characterRun(/[^&\s"]/);

/**
 * Replaces values of fields of forms, queries and command lines, such as `token=…`. Looks at the names of all fields, because
 * an expression with all secret names is slow.
 */
export function replaceFormFields(
  text: string,
  isSecret: (name: string) => boolean,
  replacement: string,
): string {
  const findEnd: SecretPattern['findEnd'] = (whole, from, [, name = '']) => {
    const end = isSecret(name) ? value.endOf(whole, from) : from;
    return end > from ? end : undefined;
  };
  return replaceSecrets(text, { start: fieldStart, findEnd }, replacement);
}
