import { describe, expect, it } from 'vitest';
import type { Part } from '../../protocol/part.ts';
import { MessageValidator } from './validate-message.ts';

const base = { name: 'A', description: 'a', process: () => undefined };

function validate(part: Part, definition: object): string {
  try {
    new MessageValidator({ ...base, ...definition }).check(
      { message: { messageId: 'm', role: 'user', parts: [part] } },
      {},
    );
    return 'accepted';
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}

describe('MessageValidator', () => {
  it.each([
    ['image/png', ['image/png'], 'accepted'],
    ['Image/PNG; q=1', ['image/png'], 'accepted'],
    ['image/png', ['text/plain', 'image/*'], 'accepted'],
    ['text/csv', ['text'], 'accepted'],
    ['application/x-thing', ['*/*'], 'accepted'],
    ['application/x-thing', ['text/plain'], 'CONTENT_TYPE_NOT_SUPPORTED'],
    ['imagery/png', ['image/*'], 'CONTENT_TYPE_NOT_SUPPORTED'],
  ])('checks %s against input modes %j: %s', (mediaType, defaultInputModes, expected) => {
    expect(validate({ raw: 'AA==', mediaType }, { defaultInputModes })).toBe(expected);
  });

  it('accepts every media type without defaultInputModes', () => {
    expect(validate({ raw: 'AA==', mediaType: 'application/x-thing' }, {})).toBe('accepted');
  });

  it('accepts input modes of skills', () => {
    const definition = { defaultInputModes: ['text/plain'], skills: [{ id: 's', inputModes: ['audio/*'] }] };
    expect(validate({ raw: 'AA==', mediaType: 'audio/ogg' }, definition)).toBe('accepted');
  });

  it('accepts parts without mediaType', () => {
    expect(validate({ text: 'hi' }, { defaultInputModes: ['image/png'] })).toBe('accepted');
  });
});
