import { describe, expect, it } from 'vitest';
import type { Metadata, Part } from '../../../protocol/part.ts';
import { type ElicitationForm, parseElicitationAnswer, formatElicitation } from './elicitation.ts';

const answered = (form: ElicitationForm['requestedSchema'], parts: Part[], metadata?: Metadata) =>
  parseElicitationAnswer(
    { messageId: 'm', role: 'user', parts, metadata },
    { message: 'How?', requestedSchema: form },
  );

describe('a form', () => {
  it('is a question for people, and its schema for programs', () => {
    const requestedSchema = {
      properties: {
        size: { type: 'string', enum: ['S', 'L'], description: 'How large' },
        gift: { type: 'boolean' },
      },
    };
    expect(formatElicitation({ message: 'How?', requestedSchema })).toEqual([
      { text: 'How?\n\n- size (S | L): How large\n- gift (boolean): gift' },
      { data: { requestedSchema }, mediaType: 'application/json' },
    ]);
  });

  it.each([
    ['string', 'red', 'red'],
    ['number', ' 1.5 ', 1.5],
    ['integer', '3', 3],
    ['boolean', 'Yes', true],
    ['boolean', 'no', false],
    ['array', 'a, b', ['a', 'b']],
  ])('with one %s takes a text', (type, text, value) => {
    expect(answered({ properties: { x: { type } }, required: ['x'] }, [{ text }])).toEqual({
      action: 'accept',
      content: { x: value },
    });
  });

  it.each([
    ['integer', '1.5'],
    ['number', 'many'],
    ['boolean', 'perhaps'],
  ])('with one %s does not take %s', (type, text) => {
    expect(answered({ properties: { x: { type } }, required: ['x'] }, [{ text }])).toContain('x is needed');
  });

  it('with several fields takes data, or JSON as text, and says what is missing', () => {
    const form = { properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a'] };
    expect(answered(form, [{ data: { a: 'x', b: 2, other: 1 } }])).toEqual({
      action: 'accept',
      content: { a: 'x', b: 2 },
    });
    expect(answered(form, [{ text: '{"a":"x"}' }])).toEqual({ action: 'accept', content: { a: 'x' } });
    expect(answered(form, [{ text: 'something' }])).toBe('a is needed as string. Send data with a, b.');
    expect(answered(form, [{ data: { a: 'x', b: 'two' } }])).toContain('b is needed as number');
  });

  it('takes one of the choices only', () => {
    const form = { properties: { x: { enum: ['S', 'L'] } }, required: ['x'] };
    expect(answered(form, [{ text: 'L' }])).toMatchObject({ content: { x: 'L' } });
    expect(answered(form, [{ text: 'M' }])).toContain('S or L');
  });

  it('can be declined and canceled', () => {
    for (const action of ['decline', 'cancel'])
      expect(answered({ properties: {} }, [{ text: '' }], { action })).toEqual({ action });
  });
});
