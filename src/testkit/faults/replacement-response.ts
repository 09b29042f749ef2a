import type { Fault } from './fault.ts';

/** An answer in the place of the one that was to be sent. */
export interface ReplacementResponse {
  readonly status: number;
  /** Name, value, name, value. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** What is sent instead because of a fault, if it is one of those. */
export function replacementResponseFor(fault: Fault): ReplacementResponse | undefined {
  switch (fault.kind) {
    case 'http':
      return httpReplacement(fault);
    case 'unauthorized':
      return { status: 401, headers: ['WWW-Authenticate', fault.challenge ?? 'Bearer'], body: '' };
    case 'rate-limit':
      return { status: 429, headers: ['Retry-After', String(fault.retryAfter)], body: '' };
    case 'redirect': {
      const headers = fault.location === undefined ? [] : ['Location', fault.location];
      return { status: fault.status, headers, body: '' };
    }
    default:
      return undefined;
  }
}

function httpReplacement({
  status,
  headers = {},
  body,
}: Extract<Fault, { kind: 'http' }>): ReplacementResponse {
  const isText = typeof body === 'string';
  const text = body === undefined ? '' : isText ? body : JSON.stringify(body);
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const type = ['Content-Type', isText ? 'text/plain; charset=utf-8' : 'application/json'];
  const isTyped = text === '' || names.includes('content-type');
  return { status, headers: [...Object.entries(headers).flat(), ...(isTyped ? [] : type)], body: text };
}
