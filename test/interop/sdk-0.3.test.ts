import { testSdk0_3 } from './clients/sdk-0.3.ts';
import { oneServer } from './targets/one-server.ts';

testSdk0_3(oneServer);
