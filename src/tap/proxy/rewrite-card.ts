import type { IncomingMessage } from 'node:http';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import { identifyRpcOperation, isCardPath } from '../decode/identify-operation.ts';
import { looksLikeCard, rewriteCardUrls } from './rewrite-card-urls.ts';
import { decodeBody } from './content-encoding.ts';
import { removeGrpcInterfaces, type GrpcRemoval } from './remove-grpc.ts';

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
  /** How many interfaces were gRPC, which the tap cannot proxy and removes. */
  readonly grpc: GrpcRemoval['grpc'];
}

const notACard: CardRewrite = {
  body: undefined,
  name: undefined,
  otherOrigins: [],
  breaksSignature: false,
  grpc: 'none',
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

/** Rewrites a card that is the whole body or the `result` in it. */
export function rewriteCardBody(
  bytes: Buffer,
  encoding: string | undefined,
  { target, tap }: { readonly target: URL; readonly tap: string },
): CardRewrite {
  const decoded = decodeBody(bytes, encoding);
  const body = decoded && parseJsonOrUndefined(decoded.toString('utf8'));
  const result = (body as { result?: unknown } | undefined)?.result;
  const card = looksLikeCard(result) ? result : body;
  if (!looksLikeCard(card)) return notACard;
  const { card: withoutGrpc, grpc } = removeGrpcInterfaces(card);
  const { changed, otherOrigins, isSigned } = rewriteCardUrls(withoutGrpc, target, tap);
  const newCard = changed ?? (grpc === 'none' ? undefined : withoutGrpc);
  const newBody = newCard === undefined || card === body ? newCard : { ...(body as object), result: newCard };
  return {
    body: newBody === undefined ? undefined : Buffer.from(JSON.stringify(newBody)),
    name: typeof card.name === 'string' ? card.name : undefined,
    otherOrigins,
    breaksSignature: isSigned && newCard !== undefined,
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
