import { expect, it } from 'vitest';
import { readFileAttachment, attachmentError } from './attachments.ts';

const file = (size: number) => ({ name: 'x', size });

it('accepts files within the limits and names the exceeded limit', () => {
  expect(attachmentError([], [file(1000)])).toBeUndefined();
  expect(attachmentError(new Array(9).fill(file(1)), [file(1), file(1)])).toMatch(/at most 10 files/);
  expect(attachmentError([], [file(4_000_001)])).toMatch(/limit is 4.0 MB/);
  expect(attachmentError([file(3_000_000)], [file(3_000_000)])).toMatch(/together/);
});

it('converts a file to a part', async () => {
  const read = await readFileAttachment(new File(['hi'], 'a.txt', { type: 'text/plain' }));
  expect(read.part).toEqual({ raw: 'aGk=', filename: 'a.txt', mediaType: 'text/plain' });
});
