import { may, must, should } from '../../rule-model.ts';
import { type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { type Check, defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import type { Probe } from '../../probe.ts';
import {
  type PublicJwk,
  parseSignature,
  type CardSignatureParts,
  signatureProblem,
} from './verify-signature.ts';
import { asText, listOf, objectOf, objectsOf } from '../../drivers/normalized-views.ts';
import { isLoopbackUrl } from '../push/loopback.ts';
import { isUrl } from '../../../primitives/web/parse-url.ts';

/** Returns a check of the protected header of each signature. */
function checkHeaders(findProblem: (header: JsonObject) => string | undefined): Check['run'] {
  return async (probe) => {
    for (const [index, { header }] of parsedSignatures(probe)) {
      const problem = header && findProblem(header);
      if (problem) probe.warn(`signatures[${index}]: ${problem}`, { actual: header, exchanges: [] });
    }
  };
}

function parsedSignatures(probe: Probe): [number, CardSignatureParts][] {
  return listOf(probe.card.signatures).flatMap((raw, index) => {
    const parsed = parseSignature(raw);
    return typeof parsed === 'string' ? [] : [[index, parsed] as [number, CardSignatureParts]];
  });
}

/** Keys at which a signature may be verified. */
interface SignatureKeys {
  readonly url: string;
  /** False if there is no JWKS at the URL. */
  readonly isPublished: boolean;
  /** The key of the signature. */
  readonly key: PublicJwk | undefined;
}

/** Fetches the key of a signature from its `jku`, or from the default URL of a JWKS. */
async function fetchKeys(probe: Probe, { header }: CardSignatureParts): Promise<SignatureKeys> {
  const jku = asText(header?.jku);
  const url = jku ?? new URL('/.well-known/jwks.json', probe.context.cardUrl).href;
  // The credentials of the agent must not be sent to other hosts.
  const { status, body } = await probe
    .withCredentials({})
    .sendRaw({ method: 'GET', url, headers: { accept: 'application/json' } });
  const keySet = status === 200 ? parseJsonOrUndefined(body) : undefined;
  const keys = objectsOf(objectOf(keySet).keys);
  const key =
    keys.find(({ kid }) => kid === header?.kid) ??
    (keys.length === 1 && keys[0]?.kid === undefined ? keys[0] : undefined);
  return { url, isPublished: Array.isArray(objectOf(keySet).keys), key };
}

const shared = {
  category: 'agent-card',
  versions: ['1.0'],
  preconditions: ['signatures'],
  about: 'card',
} as const;

/** Card signatures: section 8.4. */
export const cardSignatureChecks = defineChecks(shared, [
  {
    id: 'signature.format',
    ...must('8.4.2', 'SIGN-010', 'CARD-015'),
    sentence: 'A card signature has a protected header and a signature in base64url.',
    remedy: 'Publish the members protected and signature of a JWS in JSON serialization.',
    async run(probe) {
      for (const [index, raw] of listOf(probe.card.signatures).entries()) {
        const parsed = parseSignature(raw);
        if (typeof parsed === 'string') probe.warn(`signatures[${index}] ${parsed}`, { exchanges: [] });
      }
    },
  },
  {
    id: 'signature.alg',
    ...must('8.4.2', 'SIGN-010'),
    sentence: 'The protected header contains an asymmetric signature algorithm.',
    remedy: 'Set alg to an asymmetric algorithm such as ES256, not to none or HS256.',
    run: checkHeaders(({ alg }) =>
      typeof alg !== 'string' || alg === ''
        ? 'alg is missing'
        : /^(none|HS\d+)$/i.test(alg)
          ? `alg is ${alg}, which clients cannot verify`
          : undefined,
    ),
  },
  {
    id: 'signature.kid',
    ...must('8.4.2', 'SIGN-011'),
    sentence: 'The protected header contains the key id.',
    remedy: 'Set kid to the id of the key in the published JWKS.',
    run: checkHeaders(({ kid }) => (typeof kid === 'string' && kid !== '' ? undefined : 'kid is missing')),
  },
  {
    id: 'signature.typ',
    ...should('8.4.2', 'SIGN-012'),
    sentence: 'The protected header has typ JOSE.',
    remedy: 'Set typ to JOSE.',
    run: checkHeaders(({ typ }) =>
      typ === 'JOSE' ? undefined : `typ is ${JSON.stringify(typ) ?? 'missing'}`,
    ),
  },
  {
    id: 'signature.jku',
    ...may('8.4.2', 'SIGN-013'),
    sentence: 'The jku header, if present, is an https URL.',
    remedy: 'Publish the JWKS over https.',
    run: checkHeaders(({ jku }) => {
      if (jku === undefined) return undefined;
      const url = asText(jku) ?? '';
      return isUrl(url) && (url.startsWith('https:') || isLoopbackUrl(url))
        ? undefined
        : `jku is ${JSON.stringify(jku)}`;
    }),
  },
  {
    id: 'signature.key',
    ...should('8.4.3', 'SIGN-011', 'SIGN-013'),
    sentence: 'The JWKS at jku, or at /.well-known/jwks.json, contains the key of each signature.',
    remedy: 'Publish a JWKS that contains a key with that kid.',
    async run(probe) {
      let unpublished: string | undefined;
      for (const [index, signature] of parsedSignatures(probe)) {
        const { url, isPublished, key } = await fetchKeys(probe, signature);
        const isNamed = asText(signature.header?.jku) !== undefined;
        const kid = JSON.stringify(signature.header?.kid) ?? 'missing';
        if (!key && (isNamed || isPublished))
          probe.warn(`signatures[${index}]: no key with the kid ${kid} at ${url}`);
        else if (!key) unpublished = url;
      }
      if (unpublished !== undefined && probe.warnings.length === 0)
        throw new InconclusiveError(
          `The key of a signature is unknown: it has no jku, and there is no JWKS at ${unpublished}.`,
        );
    },
  },
  {
    id: 'signature.verifies',
    ...must(
      '8.4.1',
      'SIGN-002',
      'SIGN-003',
      'SIGN-004',
      'SIGN-005',
      'SIGN-006',
      'SIGN-007',
      'SIGN-008',
      'SIGN-009',
    ),
    sentence: 'A card signature verifies over the canonical card.',
    remedy:
      'Remove signatures and default values, keep required and explicitly set fields, apply RFC 8785, and sign the result; sign again when the card changes.',
    async run(probe) {
      let verifiedCount = 0;
      for (const [index, signature] of parsedSignatures(probe)) {
        const { key } = await fetchKeys(probe, signature);
        if (!key) continue;
        verifiedCount++;
        const problem = await signatureProblem(probe.card, signature, key);
        if (problem) probe.warn(`signatures[${index}] does not verify: ${problem}`);
      }
      if (verifiedCount === 0)
        throw new InconclusiveError('No key found. Set jku to the URL of a JWKS to run this check.');
    },
  },
]);
