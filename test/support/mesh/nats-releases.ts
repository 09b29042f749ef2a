import { findLaterDebianProgram } from '../process/later-debian-program.ts';
import { natsServer } from './broker.ts';
import { natsSurvivesKill, readNatsVersion } from './nats-version.ts';

/** The installed nats-server and, if it can lose messages when it is killed, also a later one. Each with its version and path. */
export const natsReleases: readonly (readonly [version: string, program: string])[] = findReleases();

function findReleases(): (readonly [string, string])[] {
  if (natsServer === undefined) return [];
  const installed = readNatsVersion(natsServer);
  const releases: (readonly [string, string])[] = [[installed, natsServer]];
  if (natsSurvivesKill(installed)) return releases;
  const later = findLaterDebianProgram('trixie', 'nats-server', 'usr/sbin/nats-server');
  if (later === undefined) console.log('skipped: nats-server 2.10 is not available');
  else releases.push([readNatsVersion(later), later]);
  return releases;
}
