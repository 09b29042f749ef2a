/** Header compression: the examples of RFC 7541, appendix C, and what a decoder must reject. */
import { describe, expect, it } from 'vitest';
import { http2Codes } from '../http2-error.ts';
import { listFields } from '../message-head.ts';
import { HeaderDecoder } from './header-decoder.ts';
import { HeaderEncoder } from './header-encoder.ts';
import { decodeHuffman } from './huffman.ts';
import { staticTable } from './static-table.ts';

const unlimited = { maxBytes: Infinity, maxFields: Infinity };
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const code = (decode: () => unknown): unknown => {
  try {
    decode();
  } catch (thrown) {
    return (thrown as { http2Code?: number }).http2Code;
  }
  return undefined;
};

const get = (scheme = 'http', path = '/'): string[] =>
  listFields({ ':method': 'GET', ':scheme': scheme, ':path': path, ':authority': 'www.example.com' });
const requests: [string, string[]][] = [
  ['8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d', get()],
  ['8286 84be 5808 6e6f 2d63 6163 6865', [...get(), 'cache-control', 'no-cache']],
  [
    '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
    [...get('https', '/index.html'), 'custom-key', 'custom-value'],
  ],
];
const compressedRequests = [
  '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
  '8286 84be 5886 a8eb 1064 9cbf',
  '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
];
const date = (second: number): string => `Mon, 21 Oct 2013 20:13:${second} GMT`;
const response = (status: string, second: number): string[] =>
  listFields({
    ':status': status,
    'cache-control': 'private',
    date: date(second),
    location: 'https://www.example.com',
  });
const cookie = 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1';

describe('examples of RFC 7541', () => {
  it('decodes requests without Huffman codes (C.3)', () => {
    const decoder = new HeaderDecoder(unlimited);
    for (const [block, list] of requests) expect(decoder.decode(hex(block))).toEqual(list);
  });

  it('decodes requests with Huffman codes (C.4)', () => {
    const decoder = new HeaderDecoder(unlimited);
    for (const [index, block] of compressedRequests.entries())
      expect(decoder.decode(hex(block))).toEqual(requests[index]?.[1]);
  });

  it('decodes literals with and without an index (C.2)', () => {
    const decoder = new HeaderDecoder(unlimited);
    expect(decoder.decode(hex('400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572'))).toEqual([
      'custom-key',
      'custom-header',
    ]);
    expect(decoder.decode(hex('040c 2f73 616d 706c 652f 7061 7468'))).toEqual([':path', '/sample/path']);
    expect(decoder.decode(hex('1008 7061 7373 776f 7264 0673 6563 7265 74'))).toEqual(['password', 'secret']);
    expect(decoder.decode(hex('82'))).toEqual([':method', 'GET']);
  });

  it.each([
    [
      'without Huffman codes (C.5)',
      [
        '4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '4803 3330 37c1 c0bf',
        '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31',
      ],
    ],
    [
      'with Huffman codes (C.6)',
      [
        '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
        '4883 640e ffc1 c0bf',
        '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
      ],
    ],
  ])('decodes responses and evicts entries %s', (_title, blocks) => {
    const decoder = new HeaderDecoder(unlimited);
    // The examples use a table of 256 bytes.
    expect(decoder.decode(hex('3fe1 01'))).toEqual([]);
    const [first, second, third] = blocks.map((block) => decoder.decode(hex(block)));
    expect(first).toEqual(response('302', 21));
    expect(second).toEqual(response('307', 21));
    expect(third).toEqual([...response('200', 22), 'content-encoding', 'gzip', 'set-cookie', cookie]);
  });
});

describe('the decoder', () => {
  it.each([
    ['the index 0', '80'],
    ['an index beyond the table', 'be'],
    ['an integer without an end', 'ffff ffff ffff ff'],
    ['a name that is longer than the block', '407f 61'],
    ['a block that ends within a field', '41'],
    ['a larger table than announced', '3fe2 1f'],
    ['another size of the table within a block', '8220'],
    ['padding of eight bits', '4182 ffff'],
    ['padding of zeros', '4181 18'],
    ['the end of a text as a symbol', '4184 ffff ffff'],
  ])('rejects %s', (_title, block) => {
    expect(code(() => new HeaderDecoder(unlimited).decode(hex(block)))).toBe(http2Codes.compressionError);
  });

  it('counts what exceeds the limits without keeping it, and stays usable', () => {
    const decoder = new HeaderDecoder({ maxBytes: 1_000, maxFields: 20 });
    const field = hex(`4001 78 7f80 06${'61'.repeat(895)}`);
    expect(decoder.decode(Buffer.concat([field, Buffer.alloc(10_000, 0xbe)]))).toBeUndefined();
    expect(decoder.decode(Buffer.alloc(21, 0x82))).toBeUndefined();
    expect(decoder.decode(Buffer.alloc(20, 0x82))).toHaveLength(40);
    expect(decoder.decode(hex('be'))).toEqual(['x', 'a'.repeat(895)]);
  });

  it('empties its table for an entry that does not fit', () => {
    const decoder = new HeaderDecoder(unlimited);
    decoder.decode(hex('4001 6101 62'));
    decoder.decode(Buffer.concat([hex('4001 78 7fa1 1f'), Buffer.alloc(4_128, 0x61)]));
    expect(code(() => decoder.decode(hex('be')))).toBe(http2Codes.compressionError);
  });
});

describe('the encoder', () => {
  const list = [
    ':status',
    '200',
    'content-type',
    'application/grpc',
    'x-other',
    'ö\u00ff',
    'grpc-status',
    '0',
  ];

  it('stores what is repeated, and is understood', () => {
    const encoder = new HeaderEncoder();
    const decoder = new HeaderDecoder(unlimited);
    const blocks = [1, 2, 3].map(() => encoder.encode(list, true));
    for (const block of blocks) expect(decoder.decode(bytes(block))).toEqual(list);
    expect(blocks[1]?.length).toBeLessThan((blocks[0]?.length ?? 0) / 2);
    expect(blocks[2]).toBe(blocks[1]);
    // A field that is stored later changes the indexes of the others.
    const other = ['content-type', 'text/plain'];
    expect(decoder.decode(bytes(encoder.encode(other)))).toEqual(other);
    expect(decoder.decode(bytes(encoder.encode(list, true)))).toEqual(list);
  });

  it('stores nothing beyond the table of the peer', () => {
    const encoder = new HeaderEncoder();
    const decoder = new HeaderDecoder(unlimited);
    for (let n = 0; n < 200; n++) {
      const path = [':path', `/service/method-${n}`];
      expect(decoder.decode(bytes(encoder.encode(path)))).toEqual(path);
      expect(decoder.decode(bytes(encoder.encode(path)))).toEqual(path);
    }
  });

  it.each([0, 100, 4_096])('follows a table of %i bytes', (size) => {
    const encoder = new HeaderEncoder();
    const decoder = new HeaderDecoder(unlimited);
    decoder.decode(bytes(encoder.encode(list)));
    encoder.setTableSize(size);
    for (let n = 0; n < 3; n++) expect(decoder.decode(bytes(encoder.encode(list, true)))).toEqual(list);
  });

  it('lets no one store credentials', () => {
    const block = new HeaderEncoder().encode(['authorization', 'Bearer x']);
    // Never indexed (RFC 7541, section 6.2.3), with the name of the static table.
    expect(block.charCodeAt(0)).toBe(0x1f);
  });

  it.each([
    ['x-a', 'a\nb'],
    ['x-a', 'a\0'],
    ['x-a', '\u20ac'],
    ['X-A', 'a'],
    ['x a', 'a'],
    ['', 'a'],
  ])('rejects %j: %j, and remembers nothing of the list', (name, value) => {
    const encoder = new HeaderEncoder();
    const decoder = new HeaderDecoder(unlimited);
    expect(() => encoder.encode(['content-type', 'a/b', name, value])).toThrow(TypeError);
    expect(decoder.decode(bytes(encoder.encode(['content-type', 'a/b'])))).toEqual(['content-type', 'a/b']);
  });
});

describe('tables', () => {
  it('have 61 static entries', () => {
    expect(staticTable).toHaveLength(62);
    expect([1, 14, 31, 61].map((index) => staticTable[index]?.[0])).toEqual([
      ':authority',
      ':status',
      'content-type',
      'www-authenticate',
    ]);
  });

  it('decode the longest codes', () => {
    // The byte 10 has 30 bits, as has the end of a text.
    expect(decodeHuffman(hex('ffff fff3'), 0, 4)).toBe('\n');
  });
});
