import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Closable } from '../close-after-each.ts';
import type { Authority } from '../http/certificates.ts';
import { runDragoman, type RunningCommand } from '../cli/run-command.ts';

/** A folder with the files of a gateway with TLS, and the command that runs in it. */
export interface TlsGatewayFolder {
  /** Runs `dragoman gateway` with the file of the gateway and these flags. */
  run: (...flags: string[]) => RunningCommand;
}

/** Writes `gateway.yaml`, `cert.pem`, `key.pem`, `ca.pem`, `other-key.pem` and `text.pem`. @param tls - more of the file */
export function createTlsGatewayFolder(authority: Authority, open: Closable[], tls = ''): TlsGatewayFolder {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-tls-flags-'));
  open.push({ close: () => rm(folder, { recursive: true }) });
  const files = {
    'gateway.yaml': `listen: 0\nagents: { weather: { module: ./weather.mjs } }\n${tls}`,
    'weather.mjs': `import { defineAgent } from '${new URL('../../../dist/index.js', import.meta.url).href}';
export default defineAgent({ name: 'weather', description: '', process: ({ call }) => call.principal?.id ?? 'none' });\n`,
    'cert.pem': authority.server.cert,
    'key.pem': authority.server.key,
    'ca.pem': authority.ca,
    'other-key.pem': authority.self.key,
    'text.pem': 'text\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return {
    run(...flags) {
      const running = runDragoman(['gateway', '-c', 'gateway.yaml', ...flags], { cwd: folder });
      open.push({ close: () => running.stop('SIGKILL') });
      return running;
    },
  };
}
