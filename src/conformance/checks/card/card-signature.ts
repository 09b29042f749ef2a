import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { type Check, defineChecks } from '../../check.ts';
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
import { cardCheck } from './card-check.ts';
import { isLoopbackUrl } from '../push/loopback.ts';

/** A check that looks at each signature that can be read: id, requirements, section, level, sentence, remedy, flaw. */
function eachHeader(
  id: string,
  requirements: readonly string[],
  level: RequirementLevel,
  sentence: string,
  remedy: string,
  flawIn: (header: JsonObject) => string | undefined,
): Check {
  return signed(id, requirements, '8.4.2', level, sentence, remedy, (probe) => {
    for (const [index, { header }] of readable(probe)) {
      const flaw = header && flawIn(header);
      if (flaw)
        probe.warn(`signatures[${index}]: ${flaw}`, { actual: JSON.stringify(header), exchanges: [] });
    }
  });
}

/** A check about a card that is signed. */
function signed(...about: Parameters<typeof cardCheck>): Check {
  return { ...cardCheck(...about), preconditions: ['signatures'] };
}

function readable(probe: Probe): [number, CardSignatureParts][] {
  return (asList(probe.card.signatures) ?? []).flatMap((raw, index) => {
    const read = parseSignature(raw);
    return typeof read === 'string' ? [] : [[index, read] as [number, CardSignatureParts]];
  });
}

/** Finds the key of a signature where it says that it is, or where such keys usually are. */
async function keyOf(probe: Probe, { header }: CardSignatureParts): Promise<PublicJwk | undefined> {
  const jku = asText(header?.jku);
  // Credentials are for the agent alone.
  const nobody = probe.withCredentials({});
  const places = jku === undefined ? [new URL('/.well-known/jwks.json', probe.context.cardUrl).href] : [jku];
  for (const url of places) {
    const { status, body } = await nobody.sendRaw({
      method: 'GET',
      url,
      headers: { accept: 'application/json' },
    });
    const set = status === 200 ? parseJsonOrUndefined(body) : undefined;
    const keys = isJsonObject(set) ? (asList(set.keys) ?? []).filter(isJsonObject) : [];
    const found =
      keys.find(({ kid }) => kid === header?.kid) ??
      (keys.length === 1 && keys[0]?.kid === undefined ? keys[0] : undefined);
    if (found) return found;
  }
  return undefined;
}

/** Signatures of cards: section 8.4. */
export const cardSignatureChecks = defineChecks([
  signed(
    'signature.format',
    ['SIGN-010', 'CARD-015'],
    '8.4.2',
    'MUST',
    'A signature has a protected header and a signature in base64url.',
    'Publish the members protected and signature of a JWS in JSON.',
    (probe) => {
      for (const [index, raw] of (asList(probe.card.signatures) ?? []).entries()) {
        const read = parseSignature(raw);
        if (typeof read === 'string') probe.warn(`signatures[${index}] ${read}`, { exchanges: [] });
      }
    },
  ),
  eachHeader(
    'signature.alg',
    ['SIGN-010'],
    'MUST',
    'The protected header names the algorithm, which is one that signs.',
    'Set alg, such as ES256; none and shared secrets prove nothing.',
    ({ alg }) =>
      typeof alg !== 'string' || alg === ''
        ? 'there is no alg'
        : /^(none|HS\d+)$/i.test(alg)
          ? `alg is ${alg}, which proves nothing to strangers`
          : undefined,
  ),
  eachHeader(
    'signature.kid',
    ['SIGN-011'],
    'MUST',
    'The protected header names the key.',
    'Set kid to the id of the key in the published set.',
    ({ kid }) => (typeof kid === 'string' && kid !== '' ? undefined : 'there is no kid'),
  ),
  eachHeader(
    'signature.typ',
    ['SIGN-012'],
    'SHOULD',
    'The protected header has the type JOSE.',
    'Set typ to JOSE.',
    ({ typ }) => (typ === 'JOSE' ? undefined : `typ is ${JSON.stringify(typ) ?? 'missing'}`),
  ),
  eachHeader(
    'signature.jku',
    ['SIGN-013'],
    'MAY',
    'The address of the keys, where there is one, is an https address.',
    'Publish the key set over https.',
    ({ jku }) => {
      if (jku === undefined) return undefined;
      const url = asText(jku) ?? '';
      return URL.canParse(url) && (url.startsWith('https:') || isLoopbackUrl(url))
        ? undefined
        : `jku is ${JSON.stringify(jku)}`;
    },
  ),
  signed(
    'signature.key',
    ['SIGN-011', 'SIGN-013'],
    '8.4.3',
    'SHOULD',
    'The key of a signature is in the set that the signature points to.',
    'Publish a JSON Web Key Set at jku, with a key of that kid.',
    async (probe) => {
      for (const [index, signature] of readable(probe))
        if (asText(signature.header?.jku) !== undefined && !(await keyOf(probe, signature)))
          probe.warn(`signatures[${index}]: its key cannot be found at ${String(signature.header?.jku)}`);
    },
  ),
  signed(
    'signature.verifies',
    ['SIGN-002', 'SIGN-003', 'SIGN-004', 'SIGN-005', 'SIGN-006', 'SIGN-007', 'SIGN-008', 'SIGN-009'],
    '8.4.1',
    'MUST',
    'A signature holds over the canonical card.',
    'Leave signatures and default values out, keep what is required or was set, apply RFC 8785, and sign that; sign again whenever the card changes.',
    async (probe) => {
      let known = 0;
      for (const [index, signature] of readable(probe)) {
        const key = await keyOf(probe, signature);
        if (!key) continue;
        known++;
        const wrong = await signatureProblem(probe.card, signature, key);
        if (wrong) probe.warn(`signatures[${index}] does not verify: ${wrong}`);
      }
      if (known === 0)
        throw new InconclusiveError(
          'No key could be found: name a JSON Web Key Set with jku to have this tried.',
        );
    },
  ),
]);
