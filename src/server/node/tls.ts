import type { RequestListener, Server, ServerOptions as HttpOptions } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { SecureContextOptions } from 'node:tls';

/** How connections are encrypted. */
export interface TlsOptions
  extends Pick<SecureContextOptions, 'key' | 'cert' | 'ca' | 'passphrase' | 'minVersion'> {
  /**
   * Asks callers for a certificate, signed by one of `ca`. Those without one still get the card; `mutualTls` decides
   * about everything else.
   * @defaultValue false
   */
  requestCert?: boolean;
  /**
   * Ends connections without a good certificate before anything can be asked, the card included.
   * @defaultValue false
   */
  rejectUnauthorized?: boolean;
}

/** A server for encrypted connections. */
export async function createTlsServer(
  tls: TlsOptions,
  listener: RequestListener,
  bounds: HttpOptions,
): Promise<Server | SecureServer> {
  const { createServer } = await import('node:https');
  const { requestCert = false, rejectUnauthorized = false, minVersion = 'TLSv1.2' } = tls;
  return createServer({ ...bounds, ...tls, minVersion, requestCert, rejectUnauthorized }, listener);
}
