import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';

/** What came of a handshake. */
export interface TlsCheckResult {
  readonly state: 'ok' | 'trouble' | 'left-out';
  readonly finding: string;
  readonly fix?: string;
}

/** How a handshake is made. */
export interface TlsCheckOptions {
  readonly host: string;
  readonly port: number;
  readonly timeout: number;
  /** True goes on with a certificate that nobody vouches for. */
  readonly isLenient: boolean;
}

type Told = readonly [what: string, fix: string];

/** Shakes hands over TLS, and says what is wrong in words that somebody can act on. */
export function checkTls({ host, port, timeout, isLenient }: TlsCheckOptions): Promise<TlsCheckResult> {
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port,
      timeout,
      rejectUnauthorized: false,
      // An address is no name, and may not be sent as one.
      ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    const done = (handshake: TlsCheckResult): void => {
      socket.destroy();
      resolve(handshake);
    };
    const wrong = ([what, fix]: Told): void => done({ state: 'trouble', finding: what, fix });
    socket.once('timeout', () =>
      wrong([`no answer from port ${port} in ${timeout} ms`, 'Look at port and firewall.']),
    );
    socket.once('error', (error: NodeJS.ErrnoException) => wrong(brokenOff(error, port)));
    socket.once('secureConnect', () => {
      if (socket.authorized)
        done({
          state: 'ok',
          finding: `${socket.getProtocol() ?? 'TLS'}, the certificate is valid until ${validUntil(socket)}`,
        });
      else {
        const told = distrusted(socket, host);
        if (isLenient) done({ state: 'left-out', finding: `${told[0]}; it is taken all the same` });
        else wrong(told);
      }
    });
  });
}

/** Why there was no handshake at all. */
function brokenOff({ code = '', message }: NodeJS.ErrnoException, port: number): Told {
  if (code === 'ECONNREFUSED')
    return [`nobody listens at port ${port}`, 'Start the agent, and look at the port in the address.'];
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH|HTTP_REQUEST/.test(code))
    return [
      `what listens at port ${port} speaks no TLS`,
      'Write http:// where it speaks plain HTTP, or put a proxy with a certificate before it.',
    ];
  if (/UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION|NO_PROTOCOLS/.test(code) || /protocol version/i.test(message))
    return [
      'it speaks only TLS 1.1 or older, which nobody should any more',
      'Turn on TLS 1.2 and 1.3 in the server or proxy.',
    ];
  if (/HANDSHAKE_FAILURE|NO_SHARED_CIPHER|INSUFFICIENT_SECURITY/.test(code))
    return ['the two have no cipher in common', 'Turn on the usual ciphers of TLS 1.2 and 1.3.'];
  if (/CERTIFICATE_REQUIRED|BAD_CERTIFICATE/.test(code))
    return ['it asks for a certificate of the caller', 'Callers need one of their own (mutual TLS).'];
  if (code === 'ECONNRESET')
    return [
      'the connection was closed during the handshake',
      'Look at the log of the server or proxy that ends TLS; it may not know this host name.',
    ];
  return [`no handshake: ${message}`, 'Look at the log of the server or proxy that ends TLS.'];
}

/** Why nobody vouches for the certificate. */
function distrusted(socket: TLSSocket, host: string): Told {
  const code = String(socket.authorizationError);
  const until = validUntil(socket);
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return [`the certificate expired on ${until}`, 'Renew it, and let it be renewed by itself.'];
    case 'CERT_NOT_YET_VALID':
      return ['the certificate is not valid yet', 'Look at the clocks of both machines.'];
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return [
        `the certificate is for ${namesOf(socket)}, not for ${host}`,
        'Get one for this host, or use the name that it is for.',
      ];
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return [
        'the certificate is signed by itself or by an authority that is not known here',
        'Get one from a known authority, or name yours: NODE_EXTRA_CA_CERTS=ca.pem. --insecure shows the rest.',
      ];
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return [
        'the certificate comes without those that lead to a known authority',
        'Serve the whole chain, or name the authority: NODE_EXTRA_CA_CERTS=ca.pem. --insecure shows the rest.',
      ];
    default:
      return [
        `the certificate is not trusted: ${code} (valid until ${until})`,
        'Renew it and serve the whole chain. --insecure shows the rest.',
      ];
  }
}

function validUntil(socket: TLSSocket): string {
  const until = new Date(socket.getPeerCertificate().valid_to);
  return Number.isNaN(until.getTime()) ? 'nobody knows when' : until.toISOString().slice(0, 10);
}

function namesOf(socket: TLSSocket): string {
  const { subjectaltname = '', subject } = socket.getPeerCertificate();
  const names = subjectaltname.split(', ').map((each) => each.replace(/^[^:]*:/, ''));
  return names.filter(Boolean).join(', ') || [subject?.CN ?? 'nobody'].flat().join(', ');
}
