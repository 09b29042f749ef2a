import { describe, expect, it } from 'vitest';
import type { Part } from '../../protocol/part.ts';
import { MessageValidator } from './validate-message.ts';

const base = { name: 'A', description: 'a', process: () => undefined };

function take(part: Part, definition: object): string {
  try {
    new MessageValidator({ ...base, ...definition }).check(
      { message: { messageId: 'm', role: 'user', parts: [part] } },
      {},
    );
    return 'taken';
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}

describe('the entrance of an agent', () => {
  it.each([
    ['image/png', ['image/png'], 'taken'],
    ['Image/PNG; q=1', ['image/png'], 'taken'],
    ['image/png', ['text/plain', 'image/*'], 'taken'],
    ['text/csv', ['text'], 'taken'],
    ['application/x-thing', ['*/*'], 'taken'],
    ['application/x-thing', ['text/plain'], 'CONTENT_TYPE_NOT_SUPPORTED'],
    ['imagery/png', ['image/*'], 'CONTENT_TYPE_NOT_SUPPORTED'],
  ])('lets %s in where %j is taken: %s', (mediaType, defaultInputModes, verdict) => {
    expect(take({ raw: 'AA==', mediaType }, { defaultInputModes })).toBe(verdict);
  });

  it('takes everything where the agent does not say what', () => {
    expect(take({ raw: 'AA==', mediaType: 'application/x-thing' }, {})).toBe('taken');
  });

  it('takes what one of the skills takes', () => {
    const definition = { defaultInputModes: ['text/plain'], skills: [{ id: 's', inputModes: ['audio/*'] }] };
    expect(take({ raw: 'AA==', mediaType: 'audio/ogg' }, definition)).toBe('taken');
  });

  it('asks for no type where a part names none', () => {
    expect(take({ text: 'hi' }, { defaultInputModes: ['image/png'] })).toBe('taken');
  });
});
