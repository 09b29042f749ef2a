import { afterAll, beforeAll, describe, it } from 'vitest';
import { hasOpenssl } from '../../support/http/certificates.ts';
import type { Row } from './row.ts';
import { type Scene, createScene } from './scene.ts';

const opensslRows: readonly string[] = ['AUTH_003', 'AUTH_009'];

/** Declares a test for each row with a check. */
export function testRows(rows: readonly Row[]): void {
  describe('a2a-cli specification', () => {
    let scene: Scene;
    beforeAll(async () => {
      scene = await createScene();
    });
    afterAll(() => scene?.close());

    for (const { id, description, check } of rows) {
      if (!check) continue;
      const isMissing = opensslRows.includes(id) && !hasOpenssl();
      if (isMissing) console.log(`skipped: ${id} needs openssl, which is not installed`);
      it.skipIf(isMissing)(`${id}: ${description}`, () => check(scene));
    }
  });
}
