import type { IncomingMessage } from 'node:http';

/**
 * Reads the body of a request. Discards the rest of a body that is too large, so that the client can read the response.
 *
 * @param tooLarge - creates the error of a body with more than `maxBytes`.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  tooLarge: () => Error = () => new RangeError(`The request body has more than ${maxBytes} bytes`),
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else reject(tooLarge());
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}
