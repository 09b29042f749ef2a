import { testSdk1_3InLegacyMode } from './clients/sdk-1.3-compat.ts';
import { oneServer } from './targets/one-server.ts';

testSdk1_3InLegacyMode(oneServer);
