import { describe, expect, it } from 'vitest';
import { hintForStatus, noResponseError, unexpectedResponseError } from './response-errors.ts';
import { HttpTransportError } from './http-client.ts';

const transportError = (code: string) =>
  new HttpTransportError(Object.assign(new Error('no'), { code }), false);

describe('response errors', () => {
  it.each([
    ['ECONNREFUSED', 'UNAVAILABLE', /Is the agent running/],
    ['ENOTFOUND', 'UNAVAILABLE', /does not resolve/],
    ['UND_ERR_CONNECT_TIMEOUT', 'TIMEOUT', /firewall/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'UNAVAILABLE', /NODE_EXTRA_CA_CERTS/],
    ['CERT_HAS_EXPIRED', 'UNAVAILABLE', /must renew it/],
    ['CERT_NOT_YET_VALID', 'UNAVAILABLE', /clocks/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'UNAVAILABLE', /name that the certificate lists/],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'UNAVAILABLE', /plain HTTP/],
    ['HPE_INVALID_CONSTANT', 'UNAVAILABLE', /https/],
    ['ECONNRESET', 'UNAVAILABLE', /ECONNRESET/],
  ])('maps %s to a reason and a hint', (code, reason, hint) => {
    const error = noResponseError(transportError(code), 'https://agent.test:8443/rpc');
    expect(error).toMatchObject({ reason, hint: expect.stringMatching(hint) });
    expect(error.cause).toBeInstanceOf(HttpTransportError);
  });

  it.each([
    [401, 'UNAUTHENTICATED', /Basic realm/],
    [404, 'NOT_FOUND', /The card at X lists this URL/],
    [405, 'METHOD_NOT_ALLOWED', /another transport/],
    [502, 'UNAVAILABLE', /proxy/],
    [408, 'UNAVAILABLE', /send it again/],
  ])('maps HTTP %i to a reason and a hint', (status, reason, hint) => {
    const error = unexpectedResponseError({
      status,
      url: 'http://a.test/rpc',
      contentType: 'text/html',
      authenticate: 'Basic realm="x"',
      body: '<html></html>',
      namedBy: 'The card at X',
    });
    expect(error).toMatchObject({ reason, status, hint: expect.stringMatching(hint) });
    expect(error.message).toContain('web page');
  });

  it('adds no hint for other statuses', () => {
    expect(hintForStatus({ status: 418, url: 'http://a.test', authenticate: undefined })).toBeUndefined();
  });
});
