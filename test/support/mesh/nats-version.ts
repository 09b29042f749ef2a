import { spawnSync } from 'node:child_process';
import { isVersionAtLeast } from '../../../src/mesh/brokers/nats/server-version.ts';

/** Returns the version of a nats-server. */
export function readNatsVersion(program: string): string {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? '';
}

/** Returns true if a version of nats-server keeps all messages when it is killed: before 2.10, JetStream can lose some. */
export const natsSurvivesKill = (version: string): boolean => isVersionAtLeast(version, 2, 10);
