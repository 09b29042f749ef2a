import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../http/free-port.ts';
import { findSystemProgram } from '../process/system-program.ts';
import { waitForErrorOutput } from '../process/wait-for-error-output.ts';
import { unprivileged } from './database-files.ts';

const program = findSystemProgram('pgbouncer');
if (program === undefined) console.log('skipped: PgBouncer is not installed');

/** False if PgBouncer is not installed and cannot be installed. */
export const hasPgBouncer = program !== undefined;

/** PgBouncer in transaction mode, which swallows notifications and does not know prepared statements. */
export class PgBouncer {
  readonly port: number;
  readonly #folder: string;
  #process: ChildProcess | undefined;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#folder = folder;
  }

  /** Starts it in front of a PostgreSQL server on a loopback port. */
  static async start(target: number): Promise<PgBouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-pgbouncer-'));
    const bouncer = new PgBouncer(await findFreePort(), folder);
    const file = join(folder, 'pgbouncer.ini');
    const settings = [
      '[databases]',
      `* = host=127.0.0.1 port=${target} user=test`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${bouncer.port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      'max_client_conn = 200',
      'server_login_retry = 1',
    ];
    writeFileSync(file, `${settings.join('\n')}\n`);
    const { uid, gid } = unprivileged();
    if (uid !== undefined && gid !== undefined) for (const path of [folder, file]) chownSync(path, uid, gid);
    await bouncer.launch();
    return bouncer;
  }

  /** Starts the program, and resolves when it listens. */
  async launch(): Promise<void> {
    const child = spawn(program ?? '', [join(this.#folder, 'pgbouncer.ini')], {
      ...unprivileged(),
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#process = child;
    await waitForErrorOutput(child, 'process up', 'PgBouncer');
  }

  async kill(): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
