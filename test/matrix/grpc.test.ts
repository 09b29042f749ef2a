import { describeMatrix, listGrpcCells } from './matrix.ts';

/** The other cells are in the second tier. */
const scenarios: ReadonlySet<string> = new Set(['stream', 'cancel', 'artifact in', 'failure']);

describeMatrix(
  'gateway matrix over gRPC',
  listGrpcCells().filter(
    ({ transport, upstream, scenario }) =>
      transport === 'GRPC' && upstream.endsWith('gRPC') && scenarios.has(scenario),
  ),
);
