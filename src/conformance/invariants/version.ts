import { should } from '../rule-model.ts';
import { defineInvariants } from '../observation/observation.ts';

/** Rules of the A2A-Version response header. */
export const versionInvariants = defineInvariants({ category: 'interop', versions: ['1.0'] }, [
  {
    id: 'version.no-patch',
    ...should('3.6', 'VER-001'),
    sentence: 'The agent sends the A2A-Version header, if at all, as major.minor without a patch number.',
    remedy: 'Send A2A-Version: 1.0 or omit the header.',
    check(observation) {
      if (observation.kind !== 'response' && observation.kind !== 'stream') return undefined;
      const version = observation.exchange.headers['a2a-version'];
      return version === undefined || /^\d+\.\d+$/.test(version)
        ? []
        : [`The response has A2A-Version: ${version}`];
    },
  },
]);
