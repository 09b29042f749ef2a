import { clientPreface } from '../../http2/frames.ts';

/** Returns true if a connection uses HTTP/2. */
export function startsHttp2(bytes: Buffer): boolean {
  return bytes[0] === 0x50 && bytes.toString('latin1', 0, clientPreface.length) === clientPreface;
}

/** Returns true if the bytes are the beginning of the preface, so that more bytes are needed to decide. */
export function mayStartHttp2(bytes: Buffer): boolean {
  return (
    bytes[0] === 0x50 &&
    bytes.length < clientPreface.length &&
    clientPreface.startsWith(bytes.toString('latin1'))
  );
}
