import type { X509Certificate } from 'node:crypto';
import { type Authenticator, singleScheme, type SchemeLabel } from '../authenticator.ts';

/** How to call those who show a certificate. */
export interface MutualTlsAuthOptions extends SchemeLabel {
  /**
   * The name of a caller, out of its certificate.
   * @defaultValue its subject, which is unique among the certificates of its issuer
   */
  principal?: (certificate: X509Certificate) => string;
}

/**
 * Knows callers by their TLS certificate. Only certificates that the authorities in `serve(…, { tls: { ca, requestCert } })`
 * signed count; behind a proxy that ends TLS there are none.
 */
export function mutualTlsAuth(options: MutualTlsAuthOptions = {}): Authenticator {
  const { principal } = options;
  return {
    schemes: singleScheme(options, 'mutualTLS', { type: 'mutualTLS' }),
    authenticate({ certificate }) {
      if (!certificate) return undefined;
      if (principal) return { id: principal(certificate) };
      return { id: certificate.subject, issuer: certificate.issuer };
    },
  };
}
