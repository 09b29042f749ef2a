import { describe, expect, it } from 'vitest';
import { buildResponse } from '../../actions/action-response.ts';
import { ResourceCache } from './resource-cache.ts';
import { toolResultSchema, buildToolResult } from './tool-result.ts';

const build = (fields: Parameters<typeof buildResponse>[0], limits = {}) =>
  buildToolResult(buildResponse(fields), {
    resources: new ResourceCache(limits),
    followUpTool: 'provide_required_input',
    check: () => undefined,
  });

describe('buildToolResult', () => {
  it('returns "Done." for an empty response', () => {
    expect(build({ success: true, status: 'COMPLETED' }).content).toEqual([{ type: 'text', text: 'Done.' }]);
  });

  it('includes small images and audio besides their links', () => {
    const files = [
      { name: 'a.png', mediaType: 'image/png', bytes: 'aaaa' },
      { name: 'a.wav', mediaType: 'audio/wav', bytes: 'bbbb' },
      { name: 'a.pdf', mediaType: 'application/pdf', bytes: 'cccc' },
    ];
    const { content } = build({ success: true, status: 'COMPLETED', files });
    expect(content.map(({ type }) => type)).toEqual([
      'image',
      'resource_link',
      'audio',
      'resource_link',
      'resource_link',
    ]);
  });

  it('reports files that are too large or have no content', () => {
    const files = [
      { name: 'big.bin', mediaType: 'application/octet-stream', bytes: 'aaaaaaaa' },
      { name: 'none.txt', mediaType: 'text/plain' },
    ];
    const { content, structuredContent } = build(
      { success: true, status: 'COMPLETED', files },
      { maxResourceBytes: 3 },
    );
    expect(content).toMatchObject([
      { text: expect.stringContaining('The file big.bin (application/octet-stream) is not available') },
      { text: 'The file none.txt (text/plain) has no content.' },
    ]);
    expect(structuredContent).toMatchObject({ files: [{ name: 'big.bin' }, { name: 'none.txt' }] });
  });

  it('sets isError and adds the hint of the bridge or default advice', () => {
    for (const status of ['FAILED', 'REJECTED', 'CANCELED', 'AUTH_REQUIRED', 'ERROR', 'TIMEOUT'] as const) {
      const { isError, content } = build({ status, message: 'No.' });
      expect(isError).toBe(true);
      expect(content).toMatchObject([{ text: expect.stringMatching(/^No\.\n\n\w.*\.$/s) }]);
    }
    const errorInfo = { errorMessage: 'No.', hint: 'Start the agent.' };
    expect(build({ status: 'ERROR', message: 'No.', errorInfo }).content).toMatchObject([
      { text: 'No.\n\nStart the agent.' },
    ]);
  });

  it('returns no error for INPUT_REQUIRED and RUNNING', () => {
    for (const status of ['INPUT_REQUIRED', 'RUNNING'] as const) {
      const { isError, content } = build({ status, followUpId: 'f', data: { follow_up_id: 'f' } });
      expect(isError).toBeUndefined();
      expect(content).toMatchObject([{ text: expect.stringContaining('follow_up_id "f"') }]);
    }
  });
});

describe('toolResultSchema', () => {
  it('moves $defs of the data schema to the root and removes $id', () => {
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
