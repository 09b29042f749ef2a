import { Redactor } from '../../../../../src/primitives/redaction/redaction.ts';
import type { RequestDraft } from './request-draft.ts';

/** Returns the headers of required credentials such as `bearer` or `apiKey X-Key`. */
export function secretHeaderNames(requiredCredentials: readonly string[]): string[] {
  return requiredCredentials.flatMap((required) => {
    const [, name] = /^apiKey ([\w-]+)$/.exec(required) ?? [];
    if (name !== undefined) return [name.toLowerCase()];
    return /^(?:bearer|basic|oauth2|openIdConnect)$/.test(required) ? ['authorization'] : [];
  });
}

/** Replaces secrets of headers, URL and body, as in recorded traffic. @param secretHeaders - names on the card */
export function withoutSecrets(draft: RequestDraft, secretHeaders: readonly string[]): RequestDraft {
  const redactor = new Redactor();
  for (const name of secretHeaders) redactor.addSecretHeader(name);
  return {
    ...draft,
    url: redactor.redactUrl(draft.url),
    headers: draft.headers.map(({ name, value }) => ({ name, value: redactor.redactHeader(name, value) })),
    body: redactor.redactText(draft.body),
  };
}
