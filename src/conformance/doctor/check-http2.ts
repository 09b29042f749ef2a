import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { certificateProblem, type ConnectionProblem, handshakeProblem } from './check-tls.ts';

/** Options of {@link checkHttp2}. */
export interface Http2CheckOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Milliseconds. */
  readonly timeout: number;
  /** Continues with an invalid certificate. */
  readonly insecure: boolean;
}

/** The bytes with which a client of HTTP/2 starts, and empty settings. */
const preface = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
/** Length of the header of a frame. */
const frameHeaderLength = 9;
const settingsFrame = 4;
const goawayFrame = 7;
/** First byte of a TLS record with an alert. */
const tlsAlert = 0x15;

const http2Fix =
  'Enable HTTP/2: in nginx `http2 on` with `grpc_pass`, in HAProxy `proto h2` (TLS: `alpn h2`) at both sides.';

/**
 * Opens a connection of HTTP/2, and explains why it fails. Never rejects.
 *
 * @returns undefined if the server speaks HTTP/2.
 */
export function checkHttp2({
  origin,
  timeout,
  insecure,
}: Http2CheckOptions): Promise<ConnectionProblem | undefined> {
  const { protocol, hostname, port: named } = new URL(origin);
  const isSecure = protocol === 'https:';
  const host = hostname.replaceAll(/^\[|\]$/g, '');
  const port = Number(named || (isSecure ? 443 : 80));
  return new Promise((resolve) => {
    const socket = isSecure
      ? connectTls({
          host,
          port,
          timeout,
          rejectUnauthorized: false,
          ALPNProtocols: ['h2'],
          ...(isIP(host) === 0 ? { servername: host } : {}),
        })
      : connectTcp({ host, port, timeout });
    const done = (problem: ConnectionProblem | undefined): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.once('timeout', () =>
      done([
        `no response from port ${port} within ${timeout} ms`,
        'Check the port, the firewall and the proxy.',
      ]),
    );
    socket.once('error', (error: NodeJS.ErrnoException) =>
      done(connectionProblem(error, host, port, isSecure)),
    );
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      const problem = isSecure ? tlsProblem(socket as TLSSocket, host, insecure) : undefined;
      if (problem) done(problem);
      else readFirstFrame(socket, port, done);
    });
  });
}

function connectionProblem(
  error: NodeJS.ErrnoException,
  host: string,
  port: number,
  isSecure: boolean,
): ConnectionProblem {
  if (error.code === 'ECONNREFUSED')
    return [
      `connection refused at ${host}:${port}`,
      'Start the server of gRPC, and publish its port in the card.',
    ];
  if (
    /NO_APPLICATION_PROTOCOL/.test(`${error.code} ${error.message}`) ||
    /no application protocol/i.test(error.message)
  )
    return ['TLS without ALPN h2: the server rejects HTTP/2', http2Fix];
  return isSecure
    ? handshakeProblem(error, port)
    : [`the connection failed: ${error.message}`, 'Check the port, the firewall and the proxy.'];
}

function tlsProblem(socket: TLSSocket, host: string, insecure: boolean): ConnectionProblem | undefined {
  if (!socket.authorized && !insecure) return certificateProblem(socket, host);
  if (socket.alpnProtocol === 'h2') return undefined;
  return [`TLS without ALPN h2: the server negotiates ${socket.alpnProtocol || 'no protocol'}`, http2Fix];
}

function readFirstFrame(
  socket: Socket,
  port: number,
  done: (problem: ConnectionProblem | undefined) => void,
): void {
  let received = Buffer.alloc(0);
  const judge = (): void => {
    const type = received[3];
    const text = received.toString('latin1', 0, 40).split(/[\r\n]/)[0] ?? '';
    if (received[0] === tlsAlert || received[0] === 0x16)
      done([`the server at port ${port} uses TLS`, 'Publish the address with https://, or disable TLS.']);
    else if (text.startsWith('HTTP/1.'))
      done([`the server or proxy at port ${port} supports HTTP/1.1 only (${text})`, http2Fix]);
    else if (received.length >= frameHeaderLength && type === settingsFrame) done(undefined);
    else if (received.length >= frameHeaderLength && type === goawayFrame)
      done([
        `the server at port ${port} closes connections of HTTP/2`,
        'Check the log of the server or proxy.',
      ]);
    else done([`the server at port ${port} speaks another protocol: ${JSON.stringify(text)}`, http2Fix]);
  };
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    if (received.length >= frameHeaderLength) judge();
  });
  socket.once('end', () => {
    if (received.length > 0) judge();
    else
      done([`the server or proxy at port ${port} closes connections of HTTP/2 without a response`, http2Fix]);
  });
  socket.write(preface);
}
