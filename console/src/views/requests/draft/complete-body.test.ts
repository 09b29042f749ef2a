import { expect, it } from 'vitest';
import { completeBody } from './complete-body.ts';
import type { RequestDraft } from './request-draft.ts';

/** Completes at the mark `|`. */
function complete(marked: string, target: Partial<RequestDraft> = {}) {
  const offset = marked.indexOf('|');
  const body = marked.replace('|', '');
  const draft = { version: '1.0', transport: 'JSONRPC', operation: 'send', ...target, body } as RequestDraft;
  const completion = completeBody(draft, offset);
  const [first] = completion?.suggestions ?? [];
  return {
    labels: completion?.suggestions.map(({ label }) => label) ?? [],
    result: completion && body.slice(0, completion.from) + first?.text + body.slice(completion.to),
  };
}

it('suggests the members that the version defines and the object does not have', () => {
  const { labels } = complete('{"params":{"message":{"role":"ROLE_USER","|","parts":[]}}}');
  expect(labels).toContain('messageId');
  expect(labels).not.toContain('role');
  expect(labels).not.toContain('parts');
  expect(labels).not.toContain('kind');
  expect(complete('{"params":{"message":{"parts":[{"te|').result).toBe(
    '{"params":{"message":{"parts":[{"text": ',
  );
  expect(complete('{"message":{"taskI|"}}', { transport: 'HTTP+JSON' }).result).toBe(
    '{"message":{"taskId"}}',
  );
  expect(complete('{"params":{"mess|": {}}}').result).toBe('{"params":{"message": {}}}');
});

it('suggests the values of a version', () => {
  expect(complete('{"params":{"message":{"role":"|').labels).toEqual(['ROLE_USER', 'ROLE_AGENT']);
  expect(complete('{"params":{"message":{"role":"a|"', { version: '0.3' }).result).toBe(
    '{"params":{"message":{"role":"agent"',
  );
});

it('suggests the members of JSON-RPC, and nothing outside of strings and in free-form objects', () => {
  expect(complete('{"jsonrpc":"2.0","|').labels).toEqual(['id', 'method', 'params']);
  for (const marked of [
    '{|}',
    '|',
    '{"params":{"message":{"metadata":{"|',
    '{"other":{"|',
    '[[[["|',
    '}}}"|',
  ])
    expect(complete(marked).labels).toEqual([]);
});
