import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { type Check, checkFactory, defineChecks } from '../../check.ts';
import type { RequirementLevel } from '../../rule-model.ts';
import { InconclusiveError } from '../../check-errors.ts';
import type { Probe } from '../../probe.ts';
import {
  type PublicJwk,
  parseSignature,
  type CardSignatureParts,
  signatureProblem,
} from './verify-signature.ts';
import { asList, asText } from '../../drivers/normalized-views.ts';
import { isLoopbackUrl } from '../push/loopback.ts';

/** Defines a check of the protected header of each signature. */
function headerCheck(
  id: string,
  requirements: readonly string[],
  level: RequirementLevel,
  sentence: string,
  remedy: string,
  findProblem: (header: JsonObject) => string | undefined,
): Check {
  return signatureCheck(id, requirements, '8.4.2', level, sentence, remedy, (probe) => {
    for (const [index, { header }] of parsedSignatures(probe)) {
      const problem = header && findProblem(header);
      if (problem)
        probe.warn(`signatures[${index}]: ${problem}`, { actual: JSON.stringify(header), exchanges: [] });
    }
  });
}

const signatureCheck = checkFactory({
  category: 'agent-card',
  versions: ['1.0'],
  about: 'card',
  preconditions: ['signatures'],
});

function parsedSignatures(probe: Probe): [number, CardSignatureParts][] {
  return (asList(probe.card.signatures) ?? []).flatMap((raw, index) => {
    const parsed = parseSignature(raw);
    return typeof parsed === 'string' ? [] : [[index, parsed] as [number, CardSignatureParts]];
  });
}

/** Fetches the key of a signature from its `jku`, or from the default URL of a JWKS. */
async function fetchKey(probe: Probe, { header }: CardSignatureParts): Promise<PublicJwk | undefined> {
  const jku = asText(header?.jku);
  const url = jku ?? new URL('/.well-known/jwks.json', probe.context.cardUrl).href;
  // The credentials of the agent must not be sent to other hosts.
  const { status, body } = await probe
    .withCredentials({})
    .sendRaw({ method: 'GET', url, headers: { accept: 'application/json' } });
  const keySet = status === 200 ? parseJsonOrUndefined(body) : undefined;
  const keys = isJsonObject(keySet) ? (asList(keySet.keys) ?? []).filter(isJsonObject) : [];
  return (
    keys.find(({ kid }) => kid === header?.kid) ??
    (keys.length === 1 && keys[0]?.kid === undefined ? keys[0] : undefined)
  );
}

/** Card signatures: section 8.4. */
export const cardSignatureChecks = defineChecks([
  signatureCheck(
    'signature.format',
    ['SIGN-010', 'CARD-015'],
    '8.4.2',
    'MUST',
    'A card signature has a protected header and a signature in base64url.',
    'Publish the members protected and signature of a JWS in JSON serialization.',
    (probe) => {
      for (const [index, raw] of (asList(probe.card.signatures) ?? []).entries()) {
        const parsed = parseSignature(raw);
        if (typeof parsed === 'string') probe.warn(`signatures[${index}] ${parsed}`, { exchanges: [] });
      }
    },
  ),
  headerCheck(
    'signature.alg',
    ['SIGN-010'],
    'MUST',
    'The protected header contains an asymmetric signature algorithm.',
    'Set alg to an asymmetric algorithm such as ES256, not to none or HS256.',
    ({ alg }) =>
      typeof alg !== 'string' || alg === ''
        ? 'alg is missing'
        : /^(none|HS\d+)$/i.test(alg)
          ? `alg is ${alg}, which clients cannot verify`
          : undefined,
  ),
  headerCheck(
    'signature.kid',
    ['SIGN-011'],
    'MUST',
    'The protected header contains the key id.',
    'Set kid to the id of the key in the published JWKS.',
    ({ kid }) => (typeof kid === 'string' && kid !== '' ? undefined : 'kid is missing'),
  ),
  headerCheck(
    'signature.typ',
    ['SIGN-012'],
    'SHOULD',
    'The protected header has typ JOSE.',
    'Set typ to JOSE.',
    ({ typ }) => (typ === 'JOSE' ? undefined : `typ is ${JSON.stringify(typ) ?? 'missing'}`),
  ),
  headerCheck(
    'signature.jku',
    ['SIGN-013'],
    'MAY',
    'The jku header, if present, is an https URL.',
    'Publish the JWKS over https.',
    ({ jku }) => {
      if (jku === undefined) return undefined;
      const url = asText(jku) ?? '';
      return URL.canParse(url) && (url.startsWith('https:') || isLoopbackUrl(url))
        ? undefined
        : `jku is ${JSON.stringify(jku)}`;
    },
  ),
  signatureCheck(
    'signature.key',
    ['SIGN-011', 'SIGN-013'],
    '8.4.3',
    'SHOULD',
    'The JWKS at jku contains the key of the signature.',
    'Publish a JWKS at jku that contains a key with that kid.',
    async (probe) => {
      for (const [index, signature] of parsedSignatures(probe))
        if (asText(signature.header?.jku) !== undefined && !(await fetchKey(probe, signature)))
          probe.warn(`signatures[${index}]: key not found at ${String(signature.header?.jku)}`);
    },
  ),
  signatureCheck(
    'signature.verifies',
    ['SIGN-002', 'SIGN-003', 'SIGN-004', 'SIGN-005', 'SIGN-006', 'SIGN-007', 'SIGN-008', 'SIGN-009'],
    '8.4.1',
    'MUST',
    'A card signature verifies over the canonical card.',
    'Remove signatures and default values, keep required and explicitly set fields, apply RFC 8785, and sign the result; sign again when the card changes.',
    async (probe) => {
      let verifiedCount = 0;
      for (const [index, signature] of parsedSignatures(probe)) {
        const key = await fetchKey(probe, signature);
        if (!key) continue;
        verifiedCount++;
        const problem = await signatureProblem(probe.card, signature, key);
        if (problem) probe.warn(`signatures[${index}] does not verify: ${problem}`);
      }
      if (verifiedCount === 0)
        throw new InconclusiveError('No key found. Set jku to the URL of a JWKS to run this check.');
    },
  ),
]);
