import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { Identity } from '../http/certificates.ts';
import { findFreePort } from '../http/free-port.ts';
import { findSystemProgram } from '../process/system-program.ts';
import { waitForErrorOutput } from '../process/wait-for-error-output.ts';
import { createDatabaseFiles, createDatabaseFolder, unprivileged } from './database-files.ts';

const packaged = '/usr/lib/postgresql';

/** Returns the folder with `initdb` and `postgres`, or undefined after it has printed why there is none. */
function findPrograms(): string | undefined {
  const versions = (): string[] =>
    existsSync(packaged) ? readdirSync(packaged).sort((a, b) => Number(b) - Number(a)) : [];
  // Debian installs the programs outside of the path.
  if (versions().length === 0) findSystemProgram('pg_ctlcluster', 'postgresql');
  const folder = versions()
    .map((version) => join(packaged, version, 'bin'))
    .find((each) => existsSync(join(each, 'initdb')));
  if (folder === undefined) console.log('skipped: PostgreSQL is not installed');
  return folder;
}

const packagedPrograms = findPrograms();

/** False if PostgreSQL is not installed and cannot be installed. */
export const hasPostgres = packagedPrograms !== undefined;

/** Options of a {@link PostgresServer}. */
interface PostgresServerOptions {
  /** Certificate of the server, which accepts connections without TLS as well. */
  readonly tls?: Identity;
  /** Folder with `initdb` and `postgres` of another version than the installed one. */
  readonly programs?: string | undefined;
}

/** A PostgreSQL server in a temporary folder, on a free port. */
export class PostgresServer {
  readonly #folder: string;
  readonly #port: number;
  readonly #user = unprivileged();
  readonly #settings: readonly string[];
  readonly #programs: string;
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number, settings: readonly string[], programs: string) {
    this.#settings = settings;
    this.#programs = programs;
    this.#folder = folder;
    this.#port = port;
  }

  /**
   * Creates the files of a server and starts it.
   *
   * @param isDurable - false: faster, but a crash may lose data.
   */
  static async start(isDurable: boolean, options: PostgresServerOptions = {}): Promise<PostgresServer> {
    const { tls } = options;
    const folder = createDatabaseFolder();
    const settings = isDurable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];
    const port = await findFreePort();
    const server = new PostgresServer(folder, port, settings, options.programs ?? packagedPrograms ?? '');
    if (tls) settings.push('ssl=on', ...server.#writeIdentity(tls));
    createDatabaseFiles(server.#programs, folder);
    await server.launch();
    return server;
  }

  /** @returns the settings with the files */
  #writeIdentity({ key, cert }: Identity): string[] {
    return Object.entries({ ssl_key_file: key, ssl_cert_file: cert }).map(([setting, text]) => {
      const file = join(this.#folder, setting);
      writeFileSync(file, text, { mode: 0o600 });
      const { uid, gid } = this.#user;
      if (uid !== undefined && gid !== undefined) chownSync(file, uid, gid);
      return `${setting}=${file}`;
    });
  }

  get url(): string {
    return `postgres://test@127.0.0.1:${this.#port}/postgres`;
  }

  get port(): number {
    return this.#port;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Starts the server with the existing files, and resolves when it accepts connections. */
  async launch(): Promise<void> {
    const args = ['-D', join(this.#folder, 'data'), '-k', this.#folder];
    args.push('-h', '127.0.0.1', '-p', String(this.#port));
    for (const setting of this.#settings) args.push('-c', setting);
    const child = spawn(join(this.#programs, 'postgres'), args, {
      ...this.#user,
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#process = child;
    await waitForErrorOutput(child, 'database system is ready to accept connections', 'PostgreSQL');
  }

  /** Stops the server; `SIGQUIT` is as abrupt as a crash, and `SIGKILL` is one. */
  async halt(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL' = 'SIGINT'): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }

  /** Stops the server and deletes its files. */
  async remove(): Promise<void> {
    await this.halt('SIGQUIT');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/**
 * Declares a PostgreSQL server for the tests of a file, which skip if there is none.
 *
 * @param isDurable - true for tests that stop the server abruptly.
 */
export function usePostgres(isDurable = false, options: PostgresServerOptions = {}): () => PostgresServer {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    if (hasPostgres || options.programs !== undefined)
      server = await PostgresServer.start(isDurable, options);
  }, 60_000);
  afterAll(() => server?.remove());
  return () => {
    if (!server) throw new Error('PostgreSQL is not installed');
    return server;
  };
}
