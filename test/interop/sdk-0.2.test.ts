import { testSdk0_2 } from './clients/sdk-0.2.ts';
import { oneServer } from './targets/one-server.ts';

testSdk0_2(oneServer);
