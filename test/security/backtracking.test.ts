/** Texts of peers for which backtracking regular expressions took seconds to minutes. */
import { expect, it } from 'vitest';
import { findArtifactUris } from '../../src/artifacts/find-artifact-uris.ts';
import { fieldInMessage } from '../../src/console/routes/card-routes.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { parseRequestProperties } from '../../src/mesh/request-properties.ts';
import { Redactor } from '../../src/primitives/redaction.ts';
import { serve } from '../../src/server/node/serve.ts';

/** Far above a linear scan on a busy machine, far below a quadratic one. */
const maxMilliseconds = 1_500;

function measure(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

it('answers a request with a repetitive resource name at once', async () => {
  const agent = defineAgent({ name: 'Echo', description: 'Repeats', process: ({ text }) => text });
  await using server = await serve(agent, { port: 0 });
  const name = `tasks/o${'/pushNotifications//'.repeat(20_000)}\n`;
  const start = performance.now();
  const response = await fetch(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tasks/pushNotificationConfig/set',
      params: { name, pushNotificationConfig: { url: 'https://hooks.example.com' } },
    }),
  });
  await response.text();
  expect(performance.now() - start).toBeLessThan(maxMilliseconds);
});

it.each<[string, () => unknown]>([
  ['beginnings of tokens', () => new Redactor().redactText('-eyJaaaa'.repeat(10_000))],
  ['beginnings of tokens with dots', () => new Redactor().redactText('eyJaaaaaaaa.'.repeat(10_000))],
  ['punctuation after a URI', () => findArtifactUris(`artifact://${'.'.repeat(40_000)}x`)],
  ['a long member of a card', () => fieldInMessage(`card.${'a'.repeat(40)}!`)],
  ['a list of extensions', () => parseRequestProperties({ a2aExtensions: `${'\t'.repeat(60_000)}x` })],
])('reads %s at once', (_name, work) => {
  expect(measure(work)).toBeLessThan(maxMilliseconds);
});

it('finds the field of a violation', () => {
  expect(fieldInMessage('card.skills[0].tags is not an array')).toBe('skills[0].tags');
  expect(fieldInMessage('The card has no description')).toBe('description');
  expect(fieldInMessage('The response is not JSON')).toBe('');
});
