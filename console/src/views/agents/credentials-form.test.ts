import { expect, it } from 'vitest';
import { credentialsOf } from './credentials-form.ts';

it('makes credentials of the fields of their kind, and of no others', () => {
  expect(credentialsOf({ url: '', kind: 'none', fields: { token: 'x' } })).toBeUndefined();
  expect(credentialsOf({ url: '', kind: 'bearer', fields: { token: 'x', user: 'y' } })).toEqual({
    kind: 'bearer',
    token: 'x',
  });
});

it('leaves out what is optional and empty', () => {
  const fields = { tokenUrl: 'https://id.example/token', clientId: 'a', clientSecret: 'b', scope: '' };
  expect(credentialsOf({ url: '', kind: 'client-credentials', fields })).toEqual({
    kind: 'client-credentials',
    tokenUrl: 'https://id.example/token',
    clientId: 'a',
    clientSecret: 'b',
  });
});
