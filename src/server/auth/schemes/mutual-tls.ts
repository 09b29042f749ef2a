import type { X509Certificate } from 'node:crypto';
import type { Principal } from '../../../protocol/agent.ts';
import { toPrincipal } from '../secret-lookup.ts';
import { type Authenticator, singleScheme, type SchemeLabel } from '../authenticator.ts';

/** Options of {@link mutualTlsAuth}. */
export interface MutualTlsAuthOptions extends SchemeLabel {
  /**
   * Returns the principal of a certificate, or its id.
   * @defaultValue its subject, which is unique within its issuer
   */
  principal?: (certificate: X509Certificate) => string | Principal;
}

/**
 * Authenticates clients by TLS certificates that are signed by `serve(…, { tls: { ca, requestCert } })`. Not usable behind
 * a proxy that terminates TLS.
 */
export function mutualTlsAuth(options: MutualTlsAuthOptions = {}): Authenticator {
  const { principal } = options;
  return {
    schemes: singleScheme(options, 'mutualTLS', { type: 'mutualTLS' }),
    authenticate({ certificate }) {
      if (!certificate) return undefined;
      if (principal) return toPrincipal(principal(certificate));
      return { id: certificate.subject, issuer: certificate.issuer };
    },
  };
}
