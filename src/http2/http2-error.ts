/** Error codes of HTTP/2 (RFC 9113, section 7). */
export const http2Codes = {
  noError: 0x0,
  protocolError: 0x1,
  internalError: 0x2,
  flowControlError: 0x3,
  settingsTimeout: 0x4,
  streamClosed: 0x5,
  frameSizeError: 0x6,
  refusedStream: 0x7,
  cancel: 0x8,
  compressionError: 0x9,
  enhanceYourCalm: 0xb,
} as const;

/** Returns the name of an error code, such as `REFUSED_STREAM`. */
export function http2CodeName(code: number): string {
  const [name] = Object.entries(http2Codes).find(([, each]) => each === code) ?? [];
  return name?.replaceAll(/[A-Z]/g, '_$&').toUpperCase() ?? `code ${code}`;
}

/** The peer violates a rule of HTTP/2, so that the connection must be closed. */
export class Http2Error extends Error {
  override readonly name = 'Http2Error';
  /** One of {@link http2Codes}. */
  readonly http2Code: number;

  constructor(http2Code: number, message: string) {
    super(message);
    this.http2Code = http2Code;
  }
}
