import { isLocalHost } from '../loopback.ts';

/** Completes a host that a person typed, such as `localhost:4000`: local hosts use http, all others https. */
export function completeUrl(text: string): string {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return text;
  const host = /^(\[[^\]]*\]|[^:/]*)/.exec(text)?.[0] ?? '';
  return `${isLocalHost(host.toLowerCase()) ? 'http' : 'https'}://${text}`;
}
