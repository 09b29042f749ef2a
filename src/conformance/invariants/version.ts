import { defineInvariants } from '../observation/observation.ts';

/** What answers say about their version. */
export const versionInvariants = defineInvariants([
  {
    id: 'version.no-patch',
    requirements: ['VER-001'],
    section: '3.6',
    level: 'SHOULD',
    category: 'interop',
    sentence: 'An answer that names its version names no patch number, and the version that was asked for.',
    remedy: 'Send A2A-Version: 1.0, or leave it out.',
    versions: ['1.0'],
    check(observation) {
      if (observation.kind !== 'response' && observation.kind !== 'stream') return undefined;
      const said = observation.exchange.headers['a2a-version'];
      if (said === undefined) return [];
      if (/^\d+\.\d+$/.test(said)) return [];
      return [`The answer has A2A-Version: ${said}`];
    },
  },
]);
