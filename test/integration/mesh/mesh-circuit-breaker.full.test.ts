import { testDurableQueue } from './durable-queue.ts';

testDurableQueue(5_000);
