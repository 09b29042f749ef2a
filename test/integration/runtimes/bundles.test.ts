import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConsumerFolder } from '../../support/process/consumer-folder.ts';
import { bundleWithEsbuild, optionalImports } from '../../support/runtimes/runtime-programs.ts';

let consumer: ConsumerFolder;

beforeAll(() => {
  consumer = new ConsumerFolder();
});
afterAll(() => consumer.remove());

describe('bundle for the browser', () => {
  it.each([
    ["{ connect } from 'dragoman'"],
    ["{ connect } from 'dragoman/client'"],
    ["{ defineAgent, serve, toFetchHandler } from 'dragoman'"],
    ["{ toFetchHandler } from 'dragoman/server/fetch'"],
  ])('of %s contains no module of Node', async (names) => {
    consumer.write('entry.mjs', `export ${names};`);
    const { code, external } = await bundleWithEsbuild(join(consumer.path, 'entry.mjs'));
    expect(external.filter((each) => !optionalImports.includes(each))).toEqual([]);
    expect(/\b(?:from|import|require)\s*\(?\s*["']node:/.exec(code)?.[0]).toBeUndefined();
  });
});
