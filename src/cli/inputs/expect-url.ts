import { UsageError } from '../terminal/usage-error.ts';

/** Checks that a text is an absolute http or https URL. @throws {@link UsageError} otherwise. */
export function expectUrl(text: string): string {
  if (/^https?:\/\/[^/\s]/i.test(text) && URL.canParse(text)) return text;
  throw new UsageError(
    `Invalid URL: ${text}`,
    'Use an absolute URL with http:// or https://, such as http://localhost:4000.',
  );
}
