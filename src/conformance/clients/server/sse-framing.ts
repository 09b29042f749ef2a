/** Valid ways to write the same events as SSE. */
export type SseFraming =
  | 'plain'
  | 'bytes'
  | 'one-chunk'
  | 'crlf'
  | 'cr'
  | 'comments'
  | 'lines'
  | 'byte-order-mark'
  | 'fields'
  | 'tail';

/** Writes events as SSE. Each element is written as a chunk of its own. */
export function frameEvents(events: readonly object[], framing: SseFraming): Uint8Array[] {
  const chunks = events.map((event, index) => Buffer.from(frameEvent(event, framing, index)));
  switch (framing) {
    case 'bytes':
      return chunks.flatMap((chunk) => [...chunk].map((byte) => Uint8Array.of(byte)));
    case 'one-chunk':
      return [Buffer.concat(chunks)];
    case 'crlf':
      // A chunk that ends between CR and LF must not look like two line ends.
      return chunks.flatMap((chunk) => [chunk.subarray(0, -1), chunk.subarray(-1)]);
    case 'byte-order-mark':
      return [Buffer.from('\uFEFF'), ...chunks];
    case 'cr':
      // A client may wait for the next character, because a CR can be half of a CRLF.
      return [...chunks, Buffer.from(': end\r')];
    case 'tail':
      // Without an empty line after it, this event must be ignored.
      return [...chunks, Buffer.from('data: {"incomplete": ')];
    default:
      return chunks;
  }
}

function frameEvent(event: object, framing: SseFraming, index: number): string {
  const json = JSON.stringify(event);
  switch (framing) {
    case 'crlf':
      return `data: ${json}\r\n\r\n`;
    case 'cr':
      return `data: ${json}\r\r`;
    case 'comments':
      return `: heartbeat\n\n:\ndata: ${json}\n: more\n\n`;
    case 'lines': {
      const lines = JSON.stringify(event, undefined, 1).split('\n');
      return `${lines.map((line) => `data: ${line}`).join('\n')}\n\n`;
    }
    case 'fields':
      return `event: message\nid: ${index}\nretry: 1000\nother: x\nflag\ndata:${json}\n\n`;
    default:
      return `data: ${json}\n\n`;
  }
}
