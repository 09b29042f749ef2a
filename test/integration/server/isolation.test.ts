import { memoryTaskStore } from '../../../src/store/memory-task-store.ts';
import { describeTaskIsolation } from './isolation.ts';

describeTaskIsolation('memory', async () => memoryTaskStore());
