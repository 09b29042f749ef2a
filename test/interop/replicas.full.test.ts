/** The official clients against three replicas: each of their requests reaches another one. */
import { describe } from 'vitest';
import { hasHaproxy } from '../support/process/reverse-proxy.ts';
import { hasPostgres, usePostgres } from '../support/store/postgres-server.ts';
import { testSdk0_2 } from './clients/sdk-0.2.ts';
import { testSdk0_3 } from './clients/sdk-0.3.ts';
import { testSdk1_3InLegacyMode } from './clients/sdk-1.3-compat.ts';
import { testSdk1_3 } from './clients/sdk-1.3.ts';
import { balancedReplicas } from './targets/balanced-replicas.ts';

describe.skipIf(!hasPostgres || !hasHaproxy)('through a load balancer', () => {
  const target = balancedReplicas(usePostgres());
  testSdk0_2(target);
  testSdk0_3(target);
  testSdk1_3(target);
  testSdk1_3InLegacyMode(target);
});
