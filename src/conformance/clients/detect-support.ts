import { joinLines } from '../../primitives/text.ts';
import type { CheckedVariant } from '../conformance-level.ts';
import type { ClientOperation } from './client-under-test.ts';
import {
  askingScript,
  ClientProbe,
  type ClientProbeContext,
  type OperationSupport,
  performs,
} from './client-probe.ts';
import { type ClientRun, describeExit, messagesOf, printed } from './client-run.ts';

/** All variants that clients are tested in, in the order of preference of the report. */
export const clientVariants: readonly CheckedVariant[] = [
  { version: '1.0', transport: 'JSONRPC' },
  { version: '1.0', transport: 'HTTP+JSON' },
  { version: '1.0', transport: 'GRPC' },
  { version: '0.3', transport: 'JSONRPC' },
  { version: '0.3', transport: 'HTTP+JSON' },
  { version: '0.3', transport: 'GRPC' },
  { version: '0.1', transport: 'JSONRPC' },
];

/** Operations that a version does not have. */
const missingOperations: { readonly [version: string]: readonly ClientOperation[] } = {
  '0.3': ['list'],
  '0.1': ['list', 'extended-card'],
};

/** Operations of a client in one variant. */
export interface VariantSupport {
  readonly variant: CheckedVariant;
  readonly operations: ReadonlyMap<ClientOperation, OperationSupport>;
}

/**
 * Finds out what a client offers: it runs against correct agents that each offer one variant. A client offers a variant if
 * it sends a message in it, and an operation if it calls it, whether it succeeds or not.
 *
 * @returns the support in the variant, or the reason why the client does not offer it
 */
export async function detectSupport(
  variant: CheckedVariant,
  context: ClientProbeContext,
): Promise<VariantSupport | string> {
  const probe = new ClientProbe(variant, context);
  const sent = await probe.run('send');
  if (!performs('send', sent) || !usesVariant(sent, variant)) return describeExit(sent);
  const operations = new Map<ClientOperation, OperationSupport>([['send', toSupport('send', sent)]]);
  const missing = missingOperations[variant.version] ?? [];
  const told = context.client.operations.filter((each) => each !== 'send' && !missing.includes(each));
  await Promise.all(
    told.map(async (operation) => {
      const run = await probe.run(operation, operation === 'converse' ? askingScript : {});
      operations.set(operation, toSupport(operation, run));
    }),
  );
  if (operations.get('stream')?.isOffered !== true) {
    const run = await probe.run('send', { features: { streaming: true } });
    const [first] = messagesOf(run);
    if (first?.call.operation === 'stream')
      operations.set('stream', { isOffered: true, run, printsAnswer: printed(run, run.values.answer) });
  }
  return { variant, operations };
}

/**
 * A client that calls the interface in the form of another version offers the variant, and violates its rules. Cards of
 * 0.1 are an exception: clients of 0.2 cannot tell them from their own.
 */
function usesVariant(run: ClientRun, { version, transport }: CheckedVariant): boolean {
  return messagesOf(run).some(
    ({ call }) => call.transport === transport && (version !== '0.1' || call.version === version),
  );
}

function toSupport(operation: ClientOperation, run: ClientRun): OperationSupport {
  if (performs(operation, run))
    return { isOffered: true, run, printsAnswer: printed(run, run.values.answer) };
  const reason = `The client did not perform the operation ${operation} (${joinLines(describeExit(run))}).`;
  return { isOffered: false, reason };
}
