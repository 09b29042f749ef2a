import type { Fault } from './fault.ts';

/** Response that replaces the original one. */
export interface ReplacementResponse {
  readonly status: number;
  /** Flat list: name, value, … */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Returns the response of faults that replace the whole response. */
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

function httpReplacement(fault: Extract<Fault, { kind: 'http' }>): ReplacementResponse {
  const { status, headers = {}, body } = fault;
  const isText = typeof body === 'string';
  const text = body === undefined ? '' : isText ? body : JSON.stringify(body);
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const type = ['Content-Type', isText ? 'text/plain; charset=utf-8' : 'application/json'];
  const isTyped = text === '' || names.includes('content-type');
  return { status, headers: [...Object.entries(headers).flat(), ...(isTyped ? [] : type)], body: text };
}
