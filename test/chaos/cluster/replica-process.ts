import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../fixtures/replica.mjs', import.meta.url));
const dist = new URL('../../../dist', import.meta.url).href;

/** Settings of a replica. */
export interface ReplicaSettings {
  readonly index: number;
  readonly port: number;
  readonly databaseUrl: string;
  readonly lease: number;
  readonly runsFile: string;
  /** Milliseconds by which its clock differs. */
  readonly clockOffset: number;
  /** True if its connections pass a pooler in transaction mode. */
  readonly isPooled: boolean;
}

/** A replica in its own process, which a fault can kill, suspend and restart. */
export class ReplicaProcess {
  readonly settings: ReplicaSettings;
  #child: ChildProcess | undefined;
  #starts = 0;
  #isSuspended = false;
  #output = '';

  constructor(settings: ReplicaSettings) {
    this.settings = settings;
  }

  get url(): string {
    return `http://127.0.0.1:${this.settings.port}`;
  }

  /** Starts the process and resolves when it responds. It tries again while the database does not respond. */
  async start(): Promise<void> {
    for (;;) {
      const name = `replica-${this.settings.index}-${++this.#starts}`;
      const { databaseUrl, isPooled, ...rest } = this.settings;
      const settings = {
        ...rest,
        name,
        dist,
        databaseUrl: `${databaseUrl}?application_name=${name}`,
        pollInterval: 500,
        wakeUps: true,
        prepare: !isPooled,
      };
      const child = spawn(process.execPath, [script, JSON.stringify(settings)], {
        // It ends with this process, which closes its standard input.
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      this.#child = child;
      this.#output = '';
      child.stderr.on(
        'data',
        (chunk: Buffer) => (this.#output = (this.#output + chunk.toString()).slice(-4_000)),
      );
      const isReady = await Promise.race([
        once(child.stdout, 'data').then(() => true),
        // Unlike `exit`, this event comes after the last output.
        once(child, 'close').then(() => false),
      ]);
      if (isReady) return;
      if (!/UNAVAILABLE|not available/.test(this.#output))
        throw new Error(`A replica ended with ${child.exitCode}: ${this.#output}`);
    }
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  get isSuspended(): boolean {
    return this.#isSuspended;
  }

  suspend(): void {
    this.#isSuspended = true;
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#isSuspended = false;
    this.#child?.kill('SIGCONT');
  }

  /** Fails if the process has ended by itself. */
  checkAlive(): void {
    const { exitCode, signalCode } = this.#child ?? {};
    if (exitCode !== null || signalCode !== null)
      throw new Error(`A replica ended by itself with ${exitCode ?? signalCode}: ${this.#output}`);
  }
}
