import { expect, it } from 'vitest';
import { credentialsFromForm } from './credentials-form.ts';

it('makes credentials of the fields of their kind, and of no others', () => {
  expect(credentialsFromForm({ url: '', kind: 'none', fields: { token: 'x' } })).toBeUndefined();
  expect(credentialsFromForm({ url: '', kind: 'bearer', fields: { token: 'x', user: 'y' } })).toEqual({
    kind: 'bearer',
    token: 'x',
  });
});

it('leaves out what is optional and empty', () => {
  const fields = { tokenUrl: 'https://id.example/token', clientId: 'a', clientSecret: 'b', scope: '' };
  expect(credentialsFromForm({ url: '', kind: 'client-credentials', fields })).toEqual({
    kind: 'client-credentials',
    tokenUrl: 'https://id.example/token',
    clientId: 'a',
    clientSecret: 'b',
  });
});
