import { expect, it } from 'vitest';
import { draftError, optionDrafts, parseDrafts } from './run-option-drafts.ts';

it('returns the valid options of a run', () => {
  const none = optionDrafts.value;
  expect(parseDrafts(none)).toEqual({});
  const typed = {
    maxTime: '1.5',
    maxMessages: '10',
    otherUser: 'Authorization: Bearer a:b',
    restrictedUser: 'X-Key:1',
    webhookUrl: ' https://tests.example.com ',
  };
  expect(parseDrafts(typed)).toEqual({
    maxTime: 1_500,
    maxMessages: 10,
    otherUser: { name: 'Authorization', value: 'Bearer a:b' },
    restrictedUser: { name: 'X-Key', value: '1' },
    webhookUrl: 'https://tests.example.com',
  });
});

it.each([
  ['maxTime', '-1'],
  ['maxMessages', '1.5'],
  ['otherUser', 'token'],
  ['restrictedUser', 'A B: c'],
  ['webhookUrl', 'tests.example.com'],
] as const)('explains what is wrong with %s %s', (name, text) => {
  expect(draftError(name, text)).toMatch(/^Enter /);
  expect(draftError(name, ' ')).toBeUndefined();
});
