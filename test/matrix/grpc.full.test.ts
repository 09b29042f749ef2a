import { expect, it } from 'vitest';
import { describeMatrix, listGrpcCells } from './matrix.ts';

it('has a cell for each client, transport, upstream and scenario with gRPC on either side', () => {
  // Clients over gRPC to five kinds of agents; clients over JSON-RPC, REST and a mesh to two.
  expect(listGrpcCells()).toHaveLength((2 * 5 + (3 + 2 + 3) * 2) * 7);
});

const cells = listGrpcCells();

describeMatrix(
  'gateway matrix with gRPC',
  cells.filter(({ transport }) => transport !== 'mesh'),
);
describeMatrix(
  'mesh matrix with gRPC',
  cells.filter(({ transport }) => transport === 'mesh'),
  async () => ({ url: 'memory:matrix-grpc', remove: async () => {} }),
);
