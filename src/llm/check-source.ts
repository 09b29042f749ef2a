import { A2AError, invalidField } from '../protocol/errors.ts';

/** Checks the argument of an adapter. @throws A2AError `INVALID_PARAMS` if it has not the method */
export function checkSource(source: unknown, method: string, expected: string): void {
  const found = (source as { readonly [name: string]: unknown } | null | undefined)?.[method];
  if (typeof found !== 'function') throw invalidField('source', `must be ${expected}`);
}

/** Checks what a function of the author returned. @throws A2AError `INVALID_AGENT_RESPONSE` if it cannot be iterated */
export function checkStream(stream: unknown, expected: string): void {
  if (typeof stream === 'object' && stream !== null && Symbol.asyncIterator in stream) return;
  throw new A2AError('INVALID_AGENT_RESPONSE', `The function must return ${expected}`);
}
