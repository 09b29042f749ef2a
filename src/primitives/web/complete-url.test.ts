import { expect, it } from 'vitest';
import { completeUrl } from './complete-url.ts';

it.each([
  ['localhost:4300', 'http://localhost:4300'],
  ['127.0.0.1', 'http://127.0.0.1'],
  ['[::1]:4300/agent', 'http://[::1]:4300/agent'],
  ['agents.example.com/travel', 'https://agents.example.com/travel'],
  ['http://agents.example.com', 'http://agents.example.com'],
  ['ftp://agents.example.com', 'ftp://agents.example.com'],
])('completes %s to %s', (text, url) => {
  expect(completeUrl(text)).toBe(url);
});
