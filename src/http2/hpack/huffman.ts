import { http2Codes, Http2Error } from '../http2-error.ts';

/**
 * Lengths of the codes of all bytes and of the end of a text, in bits, as digits of base 36 (RFC 7541, appendix B). The
 * codes are ordered by length and then by byte, so that the lengths determine them.
 */
const lengths =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrqu';

const endOfText = 256;
const hasByte = 1 << 8;
const isInvalid = 1 << 17;

interface Decoder {
  /**
   * The step of each state and four bits: the next state, with the byte that is complete, if any. No code is shorter
   * than five bits, so that at most one is.
   */
  readonly steps: Int32Array;
  /** 1 for each state in which a text may end: less than eight bits of padding, all of them 1. */
  readonly mayEnd: Uint8Array;
}

let built: Decoder | undefined;
let scratch = Buffer.allocUnsafeSlow(1_024);

/** Decodes a text in which each character is a byte. @throws {@link Http2Error} */
export function decodeHuffman(bytes: Buffer, start: number, end: number): string {
  const { steps, mayEnd } = (built ??= buildDecoder());
  const maxLength = Math.ceil(((end - start) * 8) / 5);
  if (scratch.length < maxLength) scratch = Buffer.allocUnsafeSlow(maxLength);
  let length = 0;
  let state = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    let step = steps[state * 16 + (byte >> 4)] as number;
    if (step & hasByte) scratch[length++] = step >> 9;
    state = step & 255;
    if (step < isInvalid) {
      step = steps[state * 16 + (byte & 15)] as number;
      if (step & hasByte) scratch[length++] = step >> 9;
      state = step & 255;
    }
    if (step >= isInvalid) throw invalidText();
  }
  if (mayEnd[state] !== 1) throw invalidText();
  return scratch.toString('latin1', 0, length);
}

function invalidText(): Http2Error {
  return new Http2Error(http2Codes.compressionError, 'a Huffman code is invalid');
}

/** A node of the tree of codes: the nodes after the bits 0 and 1, or a leaf. */
type Node = { children: [Node | undefined, Node | undefined]; state: number; symbol?: number };

function buildDecoder(): Decoder {
  const nodes: Node[] = [];
  const createNode = (): Node => {
    const node: Node = { children: [undefined, undefined], state: nodes.length };
    nodes.push(node);
    return node;
  };
  const root = createNode();
  for (const { code, length, symbol } of listCodes()) {
    let node = root;
    for (let bit = length - 1; bit > 0; bit--) {
      const side = (code >>> bit) & 1;
      node = node.children[side] ??= createNode();
    }
    node.children[code & 1] = { children: [undefined, undefined], state: 0, symbol };
  }
  const steps = new Int32Array(nodes.length * 16);
  for (const node of nodes)
    for (let bits = 0; bits < 16; bits++) steps[node.state * 16 + bits] = stepOf(root, node, bits);
  const mayEnd = new Uint8Array(nodes.length);
  let padding: Node | undefined = root;
  for (let depth = 0; depth < 8 && padding; depth++) {
    mayEnd[padding.state] = 1;
    padding = padding.children[1];
  }
  return { steps, mayEnd };
}

function stepOf(root: Node, from: Node, bits: number): number {
  let node = from;
  let step = 0;
  for (let bit = 3; bit >= 0; bit--) {
    const next = node.children[((bits >> bit) & 1) as 0 | 1] ?? root;
    if (next.symbol === endOfText) return isInvalid;
    if (next.symbol === undefined) node = next;
    else {
      step = hasByte | (next.symbol << 9);
      node = root;
    }
  }
  return step | node.state;
}

/** Returns the codes of all symbols, which are consecutive numbers within each length. */
function listCodes(): { code: number; length: number; symbol: number }[] {
  const symbols = Array.from(lengths, (digit, symbol) => ({ length: Number.parseInt(digit, 36), symbol }));
  symbols.sort((a, b) => a.length - b.length || a.symbol - b.symbol);
  let code = 0;
  let previous = 0;
  return symbols.map(({ length, symbol }) => {
    code = (previous === 0 ? 0 : code + 1) << (length - (previous || length));
    previous = length;
    return { code, length, symbol };
  });
}
