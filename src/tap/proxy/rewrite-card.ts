import type { IncomingMessage } from 'node:http';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import { identifyRpcOperation, isCardPath } from '../decode/identify-operation.ts';
import { looksLikeCard, rewriteCardUrls } from './rewrite-card-urls.ts';
import { decodeBody } from './content-encoding.ts';
import { removeGrpcInterfaces, type GrpcRemoval } from './remove-grpc.ts';

/** What became of a card on its way through the tap. */
export interface CardRewrite {
  /** What to send instead; undefined where the card may go on as it is. */
  readonly body: Buffer | undefined;
  /** What the card calls its agent; undefined where it was no card. */
  readonly name: string | undefined;
  /** Origins that the card names beside the target: who goes there goes past the tap. */
  readonly elsewhere: readonly string[];
  /** True when a signature was on it that fits no more. */
  readonly isUnsigned: boolean;
  /** How much of the card was gRPC, which cannot pass, and is left out. */
  readonly grpc: GrpcRemoval['grpc'];
}

const nothing: CardRewrite = {
  body: undefined,
  name: undefined,
  elsewhere: [],
  isUnsigned: false,
  grpc: 'none',
};

/** Tells whether an answer may be a card: by the address, or, for JSON-RPC, by what was asked. */
export function mayBeCardResponse(
  { method, url = '/' }: IncomingMessage,
  answer?: IncomingMessage,
  body: readonly Buffer[] = [],
): boolean {
  const type = answer?.headers['content-type'];
  if (answer && type !== undefined && !/^application\/[\w.+-]*json\b|^text\/plain\b/i.test(type))
    return false;
  const path = url.split('?', 1)[0] ?? '/';
  if (method === 'GET' || method === 'HEAD')
    return isCardPath(path) || /(?:card(?:\.json)?|\.json)$/i.test(path);
  if (method !== 'POST' || !answer) return false;
  const text = Buffer.concat(body).toString('utf8');
  return text.length < 65_536 && isCardMethod(text);
}

function isCardMethod(text: string): boolean {
  return (
    text.includes('Card') &&
    identifyRpcOperation(parseJsonOrUndefined(text), undefined)?.operation === 'extendedCard'
  );
}

/** Puts the tap into a card, where that is the whole of a body or the result in it. */
export function rewriteCardBody(
  bytes: Buffer,
  encoding: string | undefined,
  { target, tap }: { readonly target: URL; readonly tap: string },
): CardRewrite {
  const whole = decodeBody(bytes, encoding);
  const body = whole && parseJsonOrUndefined(whole.toString('utf8'));
  const inside = (body as { result?: unknown } | undefined)?.result;
  const card = looksLikeCard(inside) ? inside : body;
  if (!looksLikeCard(card)) return nothing;
  const { card: passable, grpc } = removeGrpcInterfaces(card);
  const { changed: moved, elsewhere, isSigned } = rewriteCardUrls(passable, target, tap);
  const changed = moved ?? (grpc === 'none' ? undefined : passable);
  const written = changed === undefined || card === body ? changed : { ...(body as object), result: changed };
  return {
    body: written === undefined ? undefined : Buffer.from(JSON.stringify(written)),
    name: typeof card.name === 'string' ? card.name : undefined,
    elsewhere,
    isUnsigned: isSigned && changed !== undefined,
    grpc,
  };
}

const mark = '-tap"';

/** The mark of a changed card, which is never that of the one it was made of. */
export function rewrittenEtag(etag: string): string {
  return etag.replace(/"$/, mark);
}

/** The marks that the target knows, in what a caller says that it has. */
export function originalEtags(marks: string): string {
  return marks.replaceAll(mark, '"');
}
