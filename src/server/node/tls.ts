import type { RequestListener, Server, ServerOptions as HttpOptions } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { SecureContextOptions, TLSSocket } from 'node:tls';
import type { Http2Acceptor } from '../fast-path/fast-path-server.ts';

/** TLS options. */
export interface TlsOptions
  extends Pick<SecureContextOptions, 'key' | 'cert' | 'ca' | 'passphrase' | 'minVersion'> {
  /**
   * Requests a client certificate signed by one of `ca`. Clients without one can read the card; `mutualTlsAuth` rejects
   * their other requests.
   * @defaultValue false
   */
  requestCert?: boolean;
  /**
   * Closes connections without a valid client certificate, even for the card.
   * @defaultValue false
   */
  rejectUnauthorized?: boolean;
}

/** Creates an HTTPS server. @param http2 - takes over connections whose clients choose HTTP/2 */
export async function createTlsServer(
  tls: TlsOptions,
  listener: RequestListener,
  nodeOptions: HttpOptions,
  http2: Http2Acceptor | undefined,
): Promise<Server | SecureServer> {
  const { createServer } = await import('node:https');
  const { requestCert = false, rejectUnauthorized = false, minVersion = 'TLSv1.2' } = tls;
  // Clients that offer both, such as browsers, get HTTP/1.1; those of gRPC offer HTTP/2 only.
  const ALPNProtocols = http2 ? ['http/1.1', 'h2'] : ['http/1.1'];
  const server = createServer(
    { ...nodeOptions, ...tls, minVersion, requestCert, rejectUnauthorized, ALPNProtocols },
    listener,
  );
  if (!http2) return server;
  const listeners = server.listeners('secureConnection') as ((socket: TLSSocket) => void)[];
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket) => {
    if (socket.alpnProtocol === 'h2') http2.accept(socket);
    else for (const each of listeners) each.call(server, socket);
  });
  return server;
}
