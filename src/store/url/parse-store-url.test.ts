import { describe, expect, it } from 'vitest';
import { parseStoreUrl } from './parse-store-url.ts';

describe('parseStoreUrl', () => {
  it.each([
    ['memory', { kind: 'memory', limits: {} }],
    ['memory?maxBytes=1gb&maxTasks=10', { kind: 'memory', limits: { maxBytes: 1_024 ** 3, maxTasks: 10 } }],
    ['sqlite:a.db', { kind: 'sqlite', file: 'a.db', shared: false, limits: {} }],
    ['sqlite:a.db?shared', { kind: 'sqlite', file: 'a.db', shared: true, limits: {} }],
    [
      'sqlite:a.db?shared&maxFileBytes=1.5MB',
      { kind: 'sqlite', file: 'a.db', shared: true, limits: { maxFileBytes: 1_572_864 } },
    ],
    [
      'postgres://ann:secret@db:5433/tasks?sslmode=require&schema=mine',
      {
        kind: 'postgres',
        url: 'postgres://ann:secret@db:5433/tasks?sslmode=require',
        schema: 'mine',
        location: 'postgres://db:5433/tasks',
      },
    ],
  ])('reads %s', (text, spec) => {
    expect(parseStoreUrl(text)).toEqual(spec);
  });

  it.each([
    ['postgres', 'Invalid task store "postgres"'],
    ['postgres://', 'Invalid URL of a PostgreSQL database'],
    ['postgres://host', 'Invalid URL of a PostgreSQL database'],
    ['sqlite:', 'Invalid task store "sqlite:"'],
    ['sqlite:?shared', 'Invalid task store "sqlite:?shared"'],
    ['memory?shared', 'Invalid option "shared" of the task store'],
    ['memory?maxBytes', 'Invalid option "maxBytes" of the task store'],
    ['memory?maxBytes=0', 'Invalid option "maxBytes=0" of the task store'],
    ['memory?maxBytes=1tb', 'Invalid option "maxBytes=1tb" of the task store'],
    ['sqlite:a.db?maxBytes=1gb', 'Invalid option "maxBytes=1gb" of the task store'],
    ['sqlite:a.db?', 'Invalid option "" of the task store'],
  ])('rejects %s', (text, message) => {
    expect(() => parseStoreUrl(text)).toThrow(message);
  });
});
