/** Files for TLS that `dragoman gateway` cannot use, named by flags and by its file. */
import { beforeAll, describe, expect, it } from 'vitest';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { createTlsGatewayFolder } from '../../support/gateway/tls-files.ts';
import { type Authority, createAuthority, hasOpenssl } from '../../support/http/certificates.ts';

const open = closeAfterEach();

describe.skipIf(!hasOpenssl())('dragoman gateway with TLS files that cannot be used', () => {
  let authority: Authority;
  beforeAll(() => {
    authority = createAuthority('Gateway flags');
  });

  const inFile = 'tls: { cert_file: cert.pem, key_file: key.pem }\n';

  it.each([
    ['--tls-cert none.pem --tls-key key.pem', '', /^error: --tls-cert must be a readable file: ENOENT/],
    ['--tls-cert cert.pem --tls-key none.pem', '', /^error: --tls-key must be a readable file: ENOENT/],
    ['--tls-cert . --tls-key key.pem', '', /^error: --tls-cert must be a readable file: EISDIR/],
    ['--tls-cert cert.pem --tls-key key.pem --tls-client-ca none.pem', '', /^error: --tls-client-ca must be/],
    [
      '--tls-cert cert.pem --tls-key key.pem --tls-client-ca text.pem',
      '',
      /^error: --tls-client-ca must have a certificate in PEM\nhint: /,
    ],
    [
      '--tls-cert cert.pem --tls-key other-key.pem',
      '',
      /^error: --tls-cert and --tls-key must name a cert.*mismatch/,
    ],
    ['--tls-cert text.pem --tls-key key.pem', '', /^error: --tls-cert and --tls-key must name a certificate/],
    ['--tls-key other-key.pem', inFile, /^error: --tls-key must name a certificate and its private key/],
    [
      '--tls-cert cert.pem',
      '',
      /^error: TLS needs a certificate and its key\nhint: Use --tls-cert and --tls-key/,
    ],
    ['--tls-client-ca ca.pem', '', /^error: TLS needs a certificate and its key\n/],
    [
      '',
      inFile.replace('key.pem', 'none.pem'),
      /^error: tls\.key_file must be.*\nhint: Correct tls in gateway\.yaml/,
    ],
  ])('explains %j, also with --check', async (flags, tls, message) => {
    const { run } = createTlsGatewayFolder(authority, open, tls);
    const args = flags.split(' ').filter((each) => each !== '');
    for (const more of [[], ['--check']]) {
      const { code, stdout, stderr } = await run(...args, ...more).ended;
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(message);
    }
  });

  it.each([['--tls-client-ca ca.pem'], ['--tls-cert cert.pem --tls-key key.pem'], ['']])(
    'accepts %j beside the files of its configuration',
    async (flags) => {
      const { run } = createTlsGatewayFolder(authority, open, inFile);
      const gateway = run(...flags.split(' ').filter((each) => each !== ''));
      expect(await gateway.prints(/listening on (\S+):/)).toMatchObject({ 1: 'https://127.0.0.1' });
      expect(await gateway.stop()).toMatchObject({ code: 0 });
    },
  );
});
