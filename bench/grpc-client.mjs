// Clients over gRPC: ours, the official SDK's and bare node:http2 call our server, one after the other in each round.
import { startTarget } from './grpc.mjs';
import { runClient } from './lib/run-client.mjs';

/** Calls of each client before and during a measurement: the processor time of a call depends on how many there were before. */
const callCount = 6_000;

/** Measures the clients for the given number of rounds. */
export async function grpcClient({ rounds }) {
  const rows = [];
  for (let round = 0; round < rounds; round++) {
    for (const adapter of ['official', 'http2', 'dragoman']) {
      const server = await startTarget('dragoman');
      try {
        const options = ['--transport', 'GRPC', '--calls', String(callCount)];
        const { send, stream100 } = await runClient(adapter, server.url, options);
        rows.push({ round, adapter, send: send.cpuUsPerCall, stream100: stream100.cpuUsPerCall });
        console.error(`   ${JSON.stringify(rows.at(-1))}`);
      } finally {
        server.child.kill('SIGKILL');
      }
    }
  }
  return { rows };
}
