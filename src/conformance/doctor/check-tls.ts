import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';

/** Result of {@link checkTls}. */
export interface TlsCheckResult {
  readonly state: 'ok' | 'error' | 'skipped';
  readonly finding: string;
  readonly fix?: string;
}

/** Options of {@link checkTls}. */
export interface TlsCheckOptions {
  readonly host: string;
  readonly port: number;
  /** Milliseconds. */
  readonly timeout: number;
  /** Continues with an invalid certificate. */
  readonly insecure: boolean;
}

/** What prevents a connection, and how to fix it. */
export type ConnectionProblem = readonly [finding: string, fix: string];

/** Performs a TLS handshake and explains why it fails. Never rejects. */
export function checkTls({ host, port, timeout, insecure }: TlsCheckOptions): Promise<TlsCheckResult> {
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port,
      timeout,
      rejectUnauthorized: false,
      // SNI does not allow IP addresses.
      ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    const done = (result: TlsCheckResult): void => {
      socket.destroy();
      resolve(result);
    };
    const fail = ([finding, fix]: ConnectionProblem): void => done({ state: 'error', finding, fix });
    socket.once('timeout', () =>
      fail([`no response from port ${port} within ${timeout} ms`, 'Check the port and the firewall.']),
    );
    socket.once('error', (error: NodeJS.ErrnoException) => fail(handshakeProblem(error, port)));
    socket.once('secureConnect', () => {
      if (socket.authorized)
        done({
          state: 'ok',
          finding: `${socket.getProtocol() ?? 'TLS'}, certificate valid until ${validUntil(socket)}`,
        });
      else {
        const problem = certificateProblem(socket, host);
        if (insecure) done({ state: 'skipped', finding: `${problem[0]}; ignored because of --insecure` });
        else fail(problem);
      }
    });
  });
}

/** Explains a TLS handshake that failed. */
export function handshakeProblem(
  { code = '', message }: NodeJS.ErrnoException,
  port: number,
): ConnectionProblem {
  if (code === 'ECONNREFUSED')
    return [`connection refused at port ${port}`, 'Start the agent, and check the port in the URL.'];
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH|HTTP_REQUEST/.test(code))
    return [
      `the server at port ${port} does not use TLS`,
      'Use http:// for plain HTTP, or put a proxy with a certificate in front of the agent.',
    ];
  if (/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|NO_PROTOCOLS/.test(code) || /protocol version/i.test(message))
    return [
      'the server supports only TLS 1.1 or older, which is insecure',
      'Enable TLS 1.2 and 1.3 in the server or proxy.',
    ];
  if (/HANDSHAKE_FAILURE|NO_SHARED_CIPHER|INSUFFICIENT_SECURITY/.test(code))
    return ['the server and the client share no cipher', 'Enable the default ciphers of TLS 1.2 and 1.3.'];
  if (/CERTIFICATE_REQUIRED|BAD_CERTIFICATE/.test(code))
    return ['the server requires a client certificate', 'Use a client with a certificate (mutual TLS).'];
  if (code === 'ECONNRESET')
    return [
      'the connection was closed during the handshake',
      'Check the log of the server or proxy that terminates TLS; it may not know this host name.',
    ];
  return [`TLS handshake failed: ${message}`, 'Check the log of the server or proxy that terminates TLS.'];
}

/** Explains a certificate that is not trusted. */
export function certificateProblem(socket: TLSSocket, host: string): ConnectionProblem {
  const code = String(socket.authorizationError);
  const until = validUntil(socket);
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return [`the certificate expired on ${until}`, 'Renew it, and automate the renewal.'];
    case 'CERT_NOT_YET_VALID':
      return ['the certificate is not valid yet', 'Check the clocks of both machines.'];
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return [
        `the certificate is for ${certificateNames(socket)}, not for ${host}`,
        'Use a certificate for this host, or a host name of the certificate.',
      ];
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return [
        'the certificate is self-signed or signed by an unknown authority',
        'Use a certificate of a known authority, or set NODE_EXTRA_CA_CERTS=ca.pem. Pass --insecure to run the other steps.',
      ];
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return [
        'the certificate chain is incomplete',
        'Serve the complete chain, or set NODE_EXTRA_CA_CERTS=ca.pem. Pass --insecure to run the other steps.',
      ];
    default:
      return [
        `the certificate is not trusted: ${code} (valid until ${until})`,
        'Renew it and serve the complete chain. Pass --insecure to run the other steps.',
      ];
  }
}

function validUntil(socket: TLSSocket): string {
  const until = new Date(socket.getPeerCertificate().valid_to);
  return Number.isNaN(until.getTime()) ? 'an unknown date' : until.toISOString().slice(0, 10);
}

function certificateNames(socket: TLSSocket): string {
  const { subjectaltname = '', subject } = socket.getPeerCertificate();
  const names = subjectaltname.split(', ').map((each) => each.replace(/^[^:]*:/, ''));
  return names.filter(Boolean).join(', ') || [subject?.CN ?? 'no name'].flat().join(', ');
}
