import type { RequestListener, Server, ServerOptions as HttpOptions } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { SecureContextOptions } from 'node:tls';

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

/** Creates an HTTPS server. */
export async function createTlsServer(
  tls: TlsOptions,
  listener: RequestListener,
  nodeOptions: HttpOptions,
): Promise<Server | SecureServer> {
  const { createServer } = await import('node:https');
  const { requestCert = false, rejectUnauthorized = false, minVersion = 'TLSv1.2' } = tls;
  return createServer({ ...nodeOptions, ...tls, minVersion, requestCert, rejectUnauthorized }, listener);
}
