import { expect, it } from 'vitest';
import { credentialsFromForm } from './credentials-form.ts';

it('uses only the fields of the selected kind', () => {
  expect(credentialsFromForm({ url: '', kind: 'none', fields: { token: 'x' } })).toBeUndefined();
  expect(credentialsFromForm({ url: '', kind: 'bearer', fields: { token: 'x', user: 'y' } })).toEqual({
    kind: 'bearer',
    token: 'x',
  });
});

it('omits empty optional fields', () => {
  const fields = { tokenUrl: 'https://id.example/token', clientId: 'a', clientSecret: 'b', scope: '' };
  expect(credentialsFromForm({ url: '', kind: 'client-credentials', fields })).toEqual({
    kind: 'client-credentials',
    tokenUrl: 'https://id.example/token',
    clientId: 'a',
    clientSecret: 'b',
  });
});
