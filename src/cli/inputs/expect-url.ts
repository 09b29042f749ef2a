import { UsageError } from '../terminal/usage-error.ts';
import { isUrl } from '../../primitives/web/parse-url.ts';

/**
 * Returns an absolute http or https URL.
 *
 * @param name - name of the value in the error message, such as `--public-url`.
 * @throws {@link UsageError} if the text is not such a URL.
 */
export function expectUrl(text: string, name = 'URL'): string {
  if (/^https?:\/\/[^/\s]/i.test(text) && isUrl(text)) return text;
  throw new UsageError(
    `Invalid ${name}: ${text}`,
    'Use an absolute URL with http:// or https://, such as http://localhost:4000.',
  );
}
