import type { IncomingMessage } from 'node:http';
import { A2AError } from '../../protocol/errors.ts';

/** How many bytes a request to the admin API may have. */
const maxBytes = 16 * 1_024 * 1_024;

/** Takes in the body of a request, as text. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new A2AError('PAYLOAD_TOO_LARGE', `A request may have ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
