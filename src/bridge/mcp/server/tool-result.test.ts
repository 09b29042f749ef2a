import { describe, expect, it } from 'vitest';
import { buildResponse } from '../../actions/action-response.ts';
import { ResourceCache } from './resource-cache.ts';
import { toolResultSchema, buildToolResult } from './tool-result.ts';

const write = (said: Parameters<typeof buildResponse>[0], limits = {}) =>
  buildToolResult(buildResponse(said), {
    shelf: new ResourceCache(limits),
    followUpTool: 'provide_required_input',
    check: () => undefined,
  });

describe('the result of a tool', () => {
  it('says that it is done when the agent said nothing', () => {
    expect(write({ success: true, status: 'COMPLETED' }).content).toEqual([{ type: 'text', text: 'Done.' }]);
  });

  it('shows small pictures and sounds beside their links', () => {
    const files = [
      { name: 'a.png', mediaType: 'image/png', bytes: 'aaaa' },
      { name: 'a.wav', mediaType: 'audio/wav', bytes: 'bbbb' },
      { name: 'a.pdf', mediaType: 'application/pdf', bytes: 'cccc' },
    ];
    const { content } = write({ success: true, status: 'COMPLETED', files });
    expect(content.map(({ type }) => type)).toEqual([
      'image',
      'resource_link',
      'audio',
      'resource_link',
      'resource_link',
    ]);
  });

  it('names a file that cannot be had, and why', () => {
    const files = [
      { name: 'big.bin', mediaType: 'application/octet-stream', bytes: 'aaaaaaaa' },
      { name: 'none.txt', mediaType: 'text/plain' },
    ];
    const { content, structuredContent } = write(
      { success: true, status: 'COMPLETED', files },
      { maxResourceBytes: 3 },
    );
    expect(content).toMatchObject([
      { text: expect.stringContaining('The file big.bin (application/octet-stream) cannot be had here') },
      { text: 'The file none.txt (text/plain) has no content.' },
    ]);
    expect(structuredContent).toMatchObject({ files: [{ name: 'big.bin' }, { name: 'none.txt' }] });
  });

  it('is an error with what to do, in better words where the bridge has some', () => {
    for (const status of ['FAILED', 'REJECTED', 'CANCELED', 'AUTH_REQUIRED', 'ERROR', 'TIMEOUT'] as const) {
      const { isError, content } = write({ status, message: 'No.' });
      expect(isError).toBe(true);
      expect(content).toMatchObject([{ text: expect.stringMatching(/^No\.\n\n\w.*\.$/s) }]);
    }
    const errorInfo = { errorMessage: 'No.', hint: 'Start the agent.' };
    expect(write({ status: 'ERROR', message: 'No.', errorInfo }).content).toMatchObject([
      { text: 'No.\n\nStart the agent.' },
    ]);
  });

  it('is no error while the agent asks or works', () => {
    for (const status of ['INPUT_REQUIRED', 'RUNNING'] as const) {
      const { isError, content } = write({ status, followUpId: 'f', data: { follow_up_id: 'f' } });
      expect(isError).toBeUndefined();
      expect(content).toMatchObject([{ text: expect.stringContaining('follow_up_id "f"') }]);
    }
  });
});

describe('the schema of answers', () => {
  it('takes along what the schema of the data refers to', () => {
    const data = {
      $id: 'x',
      $schema: 'y',
      type: 'object',
      properties: { a: { $ref: '#/$defs/a' } },
      $defs: { a: {} },
    };
    expect(toolResultSchema(data)).toMatchObject({
      $defs: { a: {} },
      properties: { data: { type: 'object', properties: { a: { $ref: '#/$defs/a' } } } },
    });
    expect(JSON.stringify(toolResultSchema(data))).not.toContain('$id');
  });
});
