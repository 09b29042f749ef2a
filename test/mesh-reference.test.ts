import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MeshTopics } from '../src/mesh/mesh-topics.ts';
import {
  buildRequestProperties,
  parseRequestProperties,
  responseIdProperty,
} from '../src/mesh/request-properties.ts';
import { repositoryRoot } from './support/cli/run-command.ts';

const page = readFileSync(join(repositoryRoot, 'docs/reference/mesh.md'), 'utf8');

/** Returns the first column of all tables. */
const rows = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = '']) => name);

it('lists exactly the topics of the code', () => {
  const topics = new MeshTopics('{namespace}');
  const expected = [
    topics.request('{agent}'),
    topics.response('gateway', '{gateway}', '{task}'),
    topics.status('gateway', '{gateway}', '{task}'),
    topics.response('agent', '{agent}', '{task}'),
    topics.status('agent', '{agent}', '{task}'),
    topics.clientResponse('{client}'),
    topics.agentCards,
  ];
  expect(rows.filter((row) => row.includes('/')).toSorted()).toEqual(expected.toSorted());
});

it('lists exactly the user properties that the code reads and writes', () => {
  const read = new Set<string>();
  const recorder = new Proxy({}, { get: (_target, name) => void read.add(String(name)) });
  parseRequestProperties(recorder);
  read.delete('statusTo');
  const written = buildRequestProperties({
    replyTo: 'a',
    statusTopic: 'b',
    clientId: 'c',
    userId: 'd',
    userConfig: {},
    callDepth: 1,
    delegatingAgent: 'e',
    extensions: ['f'],
    timestamp: 1,
  });
  const expected = new Set([...read, ...Object.keys(written), responseIdProperty]);
  expect(rows.filter((row) => !row.includes('/')).toSorted()).toEqual([...expected].toSorted());
  expect(page).toContain('`statusTo`');
});
