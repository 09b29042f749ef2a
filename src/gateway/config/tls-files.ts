import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { invalidField } from '../../protocol/errors.ts';
import type { TlsOptions } from '../../server/node/tls.ts';
import type { GatewaySettings, TlsSettings } from '../gateway-settings.ts';

/**
 * Reads certificate, key and client CA of a gateway.
 *
 * @throws A2AError `INVALID_PARAMS` if a file is missing or invalid, or if the key is not that of the certificate.
 */
export function readTlsFiles({ tls, file }: GatewaySettings): TlsOptions | undefined {
  if (!tls) return undefined;
  const { certFile, keyFile, clientCaFile, clientCertificates } = tls;
  const read = (key: string, path: string): string => {
    try {
      return readFileSync(resolve(dirname(file), path), 'utf8');
    } catch (thrown) {
      throw invalidField(`tls.${key}`, `must be a readable file: ${(thrown as Error).message}`);
    }
  };
  const options: TlsOptions = {
    cert: read('cert_file', certFile),
    key: read('key_file', keyFile),
    minVersion: 'TLSv1.2',
    ...(clientCaFile !== undefined && {
      ca: read('client_ca_file', clientCaFile),
      requestCert: true,
      rejectUnauthorized: clientCertificates === 'required',
    }),
  };
  if (options.ca !== undefined && !isCertificate(options.ca))
    throw invalidField('tls.client_ca_file', 'must have a certificate in PEM');
  try {
    createSecureContext(options);
  } catch (thrown) {
    throw invalidField('tls', `must name a certificate and its private key: ${(thrown as Error).message}`);
  }
  return options;
}

/** OpenSSL ignores a file of authorities without a certificate, and no client could authenticate. */
function isCertificate(pem: TlsOptions['ca']): boolean {
  try {
    return new X509Certificate(String(pem)).serialNumber !== '';
  } catch {
    return false;
  }
}

/** Returns true if a change of TLS needs a new server: files may change, but not what the server asks clients for. */
export function needsNewServer(before: TlsSettings | undefined, after: TlsSettings | undefined): boolean {
  const form = (tls: TlsSettings | undefined) =>
    JSON.stringify(tls && [tls.clientCaFile !== undefined, tls.clientCertificates]);
  return form(before) !== form(after);
}

/** Returns true if the gateway knows who calls: by `auth`, or by client certificates. */
export function authenticatesClients({ auth, tls }: GatewaySettings): boolean {
  return auth !== undefined || tls?.clientCaFile !== undefined;
}
