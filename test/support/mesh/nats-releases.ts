import { spawnSync } from 'node:child_process';
import { findLaterDebianProgram } from '../process/later-debian-program.ts';
import { natsServer } from './broker.ts';

/**
 * The installed nats-server and, if it is older than 2.10, also one of 2.10: before 2.10, JetStream can lose messages
 * when it is killed. Each with its version and path.
 */
export const natsReleases: readonly (readonly [version: string, program: string])[] = findReleases();

function findReleases(): (readonly [string, string])[] {
  if (natsServer === undefined) return [];
  const installed = readVersion(natsServer);
  const releases: (readonly [string, string])[] = [[installed, natsServer]];
  const [major = 0, minor = 0] = installed.split('.').map(Number);
  if (major > 2 || minor >= 10) return releases;
  const later = findLaterDebianProgram('trixie', 'nats-server', 'usr/sbin/nats-server');
  if (later === undefined) console.log('skipped: nats-server 2.10 is not available');
  else releases.push([readVersion(later), later]);
  return releases;
}

function readVersion(program: string): string {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? '';
}
