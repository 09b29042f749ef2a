import { testSdk1_3 } from './clients/sdk-1.3.ts';
import { oneServer } from './targets/one-server.ts';

testSdk1_3(oneServer);
