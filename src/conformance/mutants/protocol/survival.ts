import { mutant, type MutantAgent, type WireMutation, type WireRequest } from '../harness/mutant-agent.ts';
import { allVersions } from '../harness/operation-mutants.ts';

const notProtobuf = Buffer.from([0xff, 0xff, 0xff]);

/** Returns true for a request whose body is neither JSON nor protobuf. */
function isMalformed({ method, json }: WireRequest, raw: Buffer): boolean {
  return method === 'POST' && (json === undefined || raw.includes(notProtobuf));
}

/** Ends the process on a malformed request, with its response or before it. */
const crash = (more: Partial<WireMutation> = {}): WireMutation => ({ crashesOn: isMalformed, ...more });

/** Mutants that a request ends. */
export const survivalMutants: readonly MutantAgent[] = [
  mutant('process.survives:ends', 'A malformed request ends the process.', {
    transports: ['JSONRPC'],
    wire: () => crash(),
  }),
  mutant('process.survives:ends-rest', 'A malformed request of REST ends the process.', {
    transports: ['HTTP+JSON'],
    wire: () => crash(),
  }),
  mutant('process.survives:restarts', 'A malformed request ends the process, which is restarted.', {
    versions: allVersions,
    wire: () => crash({ restartsAfter: 2_500 }),
  }),
];
