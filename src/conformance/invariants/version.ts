import { defineInvariants } from '../observation/observation.ts';

/** Rules of the A2A-Version response header. */
export const versionInvariants = defineInvariants([
  {
    id: 'version.no-patch',
    requirements: ['VER-001'],
    section: '3.6',
    level: 'SHOULD',
    category: 'interop',
    sentence: 'The agent sends the A2A-Version header, if at all, as major.minor without a patch number.',
    remedy: 'Send A2A-Version: 1.0 or omit the header.',
    versions: ['1.0'],
    check(observation) {
      if (observation.kind !== 'response' && observation.kind !== 'stream') return undefined;
      const version = observation.exchange.headers['a2a-version'];
      return version === undefined || /^\d+\.\d+$/.test(version)
        ? []
        : [`The response has A2A-Version: ${version}`];
    },
  },
]);
