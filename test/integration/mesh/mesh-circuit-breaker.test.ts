import { testDurableQueue } from './durable-queue.ts';

testDurableQueue(200);
