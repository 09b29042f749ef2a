import type { IncomingMessage } from 'node:http';
import { type JsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import { identifyRpcOperation, isCardPath } from '../decode/identify-operation.ts';
import { looksLikeCard, rewriteCardUrls } from './rewrite-card-urls.ts';
import { decodeBody } from '../decode/content-encoding.ts';
import type { GrpcAddresses } from './grpc/rewrite-grpc-address.ts';

/** Maximum size of a card that is rewritten, in bytes. */
export const maxCardBytes = 4 * 1_024 * 1_024;

/** Result of {@link rewriteCardBody}. */
export interface CardRewrite {
  /** Body to send instead; undefined if the original is sent. */
  readonly body: Buffer | undefined;
  /** Agent name in the card; undefined if the body is not a card. */
  readonly name: string | undefined;
  /** Other origins in the card, whose traffic bypasses the tap. */
  readonly otherOrigins: readonly string[];
  /** True if the rewrite invalidates a signature of the card. */
  readonly breaksSignature: boolean;
  /** Addresses of the gRPC interfaces, which the tap proxies. */
  readonly grpc: GrpcAddresses;
}

const notACard: CardRewrite = {
  body: undefined,
  name: undefined,
  otherOrigins: [],
  breaksSignature: false,
  grpc: new Map(),
};

/** Returns true if a response may be a card, judging by the path or, for JSON-RPC, by the method. */
export function mayBeCardResponse(
  { method, url = '/' }: IncomingMessage,
  response?: IncomingMessage,
  body: readonly Buffer[] = [],
): boolean {
  const type = response?.headers['content-type'];
  if (response && type !== undefined && !/^application\/[\w.+-]*json\b|^text\/plain\b/i.test(type))
    return false;
  const path = url.split('?', 1)[0] ?? '/';
  if (method === 'GET' || method === 'HEAD')
    return isCardPath(path) || /(?:card(?:\.json)?|\.json)$/i.test(path);
  if (method !== 'POST' || !response) return false;
  const text = Buffer.concat(body).toString('utf8');
  if (text.length >= 65_536 || !text.includes('Card')) return false;
  return identifyRpcOperation(parseJsonOrUndefined(text), undefined)?.operation === 'extendedCard';
}

/** The target and the URL of the tap, which replaces it. */
export interface CardUrls {
  readonly target: URL;
  readonly tap: string;
}

/** Rewrites a card that is the whole body or the `result` in it. */
export function rewriteCardBody(bytes: Buffer, encoding: string | undefined, urls: CardUrls): CardRewrite {
  const decoded = decodeBody(bytes, encoding);
  const body = decoded && parseJsonOrUndefined(decoded.toString('utf8'));
  const result = (body as { result?: unknown } | undefined)?.result;
  const card = looksLikeCard(result) ? result : body;
  if (!looksLikeCard(card)) return notACard;
  return rewriteCard(card, urls, (newCard) =>
    Buffer.from(JSON.stringify(card === body ? newCard : { ...(body as object), result: newCard })),
  );
}

/** Rewrites a card. @param write - writes the body of the card that is sent instead */
export function rewriteCard(
  card: JsonObject,
  { target, tap }: CardUrls,
  write: (card: unknown) => Buffer,
): CardRewrite {
  const { changed, otherOrigins, isSigned, grpc } = rewriteCardUrls(card, target, tap);
  return {
    body: changed === undefined ? undefined : write(changed),
    name: typeof card.name === 'string' ? card.name : undefined,
    otherOrigins,
    breaksSignature: isSigned && changed !== undefined,
    grpc,
  };
}

const etagSuffix = '-tap"';

/** Returns the ETag of a rewritten card, which differs from the original one. */
export function rewrittenEtag(etag: string): string {
  return etag.replace(/"$/, etagSuffix);
}

/** Restores the original ETags in an `If-None-Match` header. */
export function originalEtags(etags: string): string {
  return etags.replaceAll(etagSuffix, '"');
}
