import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate and its private key, in PEM. */
export interface Identity {
  key: string;
  cert: string;
}

/** A certificate authority and the certificates that it issues. */
export interface Authority {
  ca: string;
  server: Identity;
  client(name: string): Identity;
  /** Issues a server certificate. @param days - validity; 0 means already expired. @defaultValue 1 */
  serverFor(names: string, days?: number): Identity;
  /** The self-signed certificate of the authority. */
  self: Identity;
}

/** Returns true if `openssl` is installed. */
export function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Creates a certificate authority that is valid for one day. */
export function createAuthority(name: string): Authority {
  const run = (folder: string, ...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  };
  const inFolder = <T>(work: (folder: string) => T): T => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-certificates-'));
    try {
      return work(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
  const { key: caKey, cert: ca } = inFolder((folder) => {
    run(folder, 'req', '-x509', ...newKey, '-keyout', 'key', '-out', 'cert', '-subj', `/CN=${name}`);
    return read(folder);
  });
  const issue = (subject: string, extensions: string, days = 1): Identity =>
    inFolder((folder) => {
      writeFileSync(join(folder, 'ca-key'), caKey);
      writeFileSync(join(folder, 'ca-cert'), ca);
      writeFileSync(join(folder, 'extensions'), extensions);
      run(folder, 'req', ...newKey.slice(0, -2), '-keyout', 'key', '-out', 'request', '-subj', subject);
      const signing = `x509 -req -in request -CA ca-cert -CAkey ca-key -CAcreateserial -days ${days}`;
      run(folder, ...signing.split(' '), '-out', 'cert', '-extfile', 'extensions');
      return read(folder);
    });
  return {
    ca,
    server: issue('/CN=localhost', 'subjectAltName=DNS:localhost,IP:127.0.0.1'),
    serverFor: (names, days) => issue('/CN=server', `subjectAltName=${names}`, days),
    self: { key: caKey, cert: ca },
    client: (commonName) => issue(`/O=Test/CN=${commonName}`, 'extendedKeyUsage=clientAuth'),
  };
}

function read(folder: string): Identity {
  return { key: readFileSync(join(folder, 'key'), 'utf8'), cert: readFileSync(join(folder, 'cert'), 'utf8') };
}
