import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Authority, createAuthority, hasOpenssl } from '../../../test/support/http/certificates.ts';
import { hasPostgres, PostgresServer } from '../../../test/support/store/postgres-server.ts';
import { postgresTaskStore } from '../postgres.ts';

describe.skipIf(!hasPostgres || !hasOpenssl())('a connection with TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-postgres-tls-'));
  const servers: { [name: string]: PostgresServer } = {};
  let authority: Authority;

  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const urlOf = (server: string, options: string, host = 'localhost'): string =>
    `${servers[server]?.url.replace('127.0.0.1', host)}?${options}`;

  beforeAll(async () => {
    authority = createAuthority('Own authority');
    write('own.pem', authority.ca);
    write('other.pem', createAuthority('Other authority').ca);
    const forOther = authority.serverFor('DNS:elsewhere.example');
    const [valid, misnamed, plain] = await Promise.all([
      PostgresServer.start(false, { tls: authority.server }),
      PostgresServer.start(false, { tls: forOther }),
      PostgresServer.start(false),
    ]);
    Object.assign(servers, { valid, misnamed, plain });
  });
  afterAll(async () => {
    await Promise.all(Object.values(servers).map((server) => server.remove()));
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    [
      'verify-full with its own authority',
      () => `sslmode=verify-full&sslrootcert=${join(folder, 'own.pem')}`,
    ],
    ['no-verify', () => 'sslmode=no-verify'],
    ['disable', () => 'sslmode=disable'],
  ])('stores tasks with %s', async (_, options) => {
    const taskStore = await postgresTaskStore({ url: urlOf('valid', options()) });
    const log = await taskStore.create('', {
      id: crypto.randomUUID(),
      contextId: 'c',
      status: { state: 'submitted' },
    });
    expect(await taskStore.open('', log.id)).toMatchObject({ state: 'submitted' });
    await taskStore[Symbol.asyncDispose]();
  });

  it.each([
    ['an unknown authority', 'valid', () => 'sslmode=verify-full', /certificate|verify/, /sslrootcert=FILE/],
    [
      'another authority',
      'valid',
      () => `sslmode=verify-full&sslrootcert=${join(folder, 'other.pem')}`,
      /certificate|verify/,
      /sslrootcert=FILE/,
    ],
    [
      'another host name',
      'misnamed',
      () => `sslmode=verify-full&sslrootcert=${join(folder, 'own.pem')}`,
      /altnames/,
      /host name in the certificate/,
    ],
    ['a server without TLS', 'plain', () => 'sslmode=verify-full', /does not support SSL/, /ssl = on/],
    [
      'a missing file',
      'valid',
      () => 'sslmode=verify-full&sslrootcert=/nowhere/ca.pem',
      /no such file.*nowhere/,
      /names of files/,
    ],
  ])('rejects %s with a clear error', async (_, server, options, message, hint) => {
    await expect(postgresTaskStore({ url: urlOf(server, options()) })).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });
});
