import { afterAll, beforeAll, describe, it } from 'vitest';
import { hasOpenssl } from '../../support/http/certificates.ts';
import type { Row } from './row.ts';
import { type Scene, setScene } from './scene.ts';

const needOpenssl: readonly string[] = ['AUTH_003', 'AUTH_009'];

/** Makes a test of each row that can be checked. */
export function tryRows(rows: readonly Row[]): void {
  describe('the client commands keep to the command-line specification', () => {
    let scene: Scene;
    beforeAll(async () => {
      scene = await setScene();
    });
    afterAll(() => scene?.leave());

    for (const { id, about, check } of rows) {
      if (!check) continue;
      const isMissing = needOpenssl.includes(id) && !hasOpenssl();
      if (isMissing) console.log(`skipped: ${id} needs openssl, which is not installed`);
      it.skipIf(isMissing)(`${id}: ${about}`, () => check(scene));
    }
  });
}
