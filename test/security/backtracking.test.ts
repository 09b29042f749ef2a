/** Texts of peers for which backtracking regular expressions took seconds to minutes. */
import { expect, it } from 'vitest';
import { findArtifactUris } from '../../src/artifacts/find-artifact-uris.ts';
import { fieldInMessage } from '../../src/console/routes/card-routes.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { parseRequestProperties } from '../../src/mesh/request-properties.ts';
import { Redactor } from '../../src/primitives/redaction/redaction.ts';
import { serve } from '../../src/server/node/serve.ts';
import { measureGrowth } from '../support/growth.ts';

/** Four times the text takes four times as long if it is read in linear time, and 16 times as long in quadratic time. */
const maxGrowth = 10;

it('answers a request with a repetitive resource name in linear time', async () => {
  const agent = defineAgent({ name: 'Echo', description: 'Repeats', process: ({ text }) => text });
  await using server = await serve(agent, { port: 0 });
  const send = async (size: number): Promise<void> => {
    const name = `tasks/o${'/pushNotifications//'.repeat(size)}\n`;
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
  };
  expect(await measureGrowth(send, { small: 5_000, large: 20_000 })).toBeLessThan(maxGrowth);
});

it.each<[string, (size: number) => unknown, number]>([
  ['beginnings of tokens', (size) => new Redactor().redactText('-eyJaaaa'.repeat(size)), 10_000],
  [
    'beginnings of tokens with dots',
    (size) => new Redactor().redactText('eyJaaaaaaaa.'.repeat(size)),
    10_000,
  ],
  ['punctuation after a URI', (size) => findArtifactUris(`artifact://${'.'.repeat(size)}x`), 40_000],
  // Exponential time: a few letters more take minutes.
  ['a long member of a card', (size) => fieldInMessage(`card.${'a'.repeat(size)}!`), 12],
  [
    'a list of extensions',
    (size) => parseRequestProperties({ a2aExtensions: `${'\t'.repeat(size)}x` }),
    60_000,
  ],
])('reads %s in linear time', async (_name, work, large) => {
  expect(await measureGrowth(work, { small: large / 4, large })).toBeLessThan(maxGrowth);
});

it('finds the field of a violation', () => {
  expect(fieldInMessage('card.skills[0].tags is not an array')).toBe('skills[0].tags');
  expect(fieldInMessage('The card has no description')).toBe('description');
  expect(fieldInMessage('The response is not JSON')).toBe('');
});
