/** The first bytes of an HTTP/2 connection. */
const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** Returns true if a connection uses HTTP/2. */
export function startsHttp2(bytes: Buffer): boolean {
  return bytes[0] === 0x50 && bytes.toString('latin1', 0, preface.length) === preface;
}

/** Returns true if the bytes are the beginning of the preface, so that more bytes are needed to decide. */
export function mayStartHttp2(bytes: Buffer): boolean {
  return bytes[0] === 0x50 && bytes.length < preface.length && preface.startsWith(bytes.toString('latin1'));
}
